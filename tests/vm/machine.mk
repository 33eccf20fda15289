# SPDX-License-Identifier: BSD-2-Clause
#
# The test machine itself: that it notices what it is there to notice.

$(B)/vm/count: tests/vm/count.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -Werror -static -o $@ $<

.PHONY: test-machine
test-machine: modules machine $(B)/vm/count
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/vm/test_machine.py
