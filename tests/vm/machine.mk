# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of the test machine run in it.

$(B)/vm/count: tests/vm/count.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -Wall -Wextra -Werror -static -o $@ $<

