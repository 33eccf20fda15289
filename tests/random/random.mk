# SPDX-License-Identifier: BSD-2-Clause
#
# Sources of random numbers: simulated ones, and virtio's, good and bad.

.PHONY: test-random test-random-debug
test-random: modules machine
	@$(VM) $(WATCHFUL) -- tests/random/guest.py Simulated
	@$(VM) $(WATCHFUL) --rng /dev/urandom -- tests/random/guest.py Real
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/random

test-random-debug: debug-modules machine
	@$(VM) --debug --append panic_on_warn=1 -- \
		tests/random/guest.py Simulated
	@$(VM) --debug --append panic_on_warn=1 --rng /dev/urandom -- \
		tests/random/guest.py Real
