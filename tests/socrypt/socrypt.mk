# SPDX-License-Identifier: BSD-2-Clause
#
# SO_CRYPT: docs/socrypt.md.

SOCRYPT := insmod $$OCF_MODULES/src/kernel/consumers/socrypt/ocf_socrypt.ko

.PHONY: test-socrypt test-socrypt-debug
test-socrypt: modules machine
	@$(VM) --memory 2G $(WATCHFUL) -- \
		tests/socrypt/run

test-socrypt-debug: debug-modules machine
	@$(VM) --debug --append panic_on_warn=1 --env ROUNDS=60 -- \
		sh -ec '$(SOCRYPT); for t in both hostile ktls; do \
		tests/socrypt/$$t.py; done'
