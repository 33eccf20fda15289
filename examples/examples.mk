# SPDX-License-Identifier: BSD-2-Clause
#
# The examples, so that they cannot rot: built against the headers as a reader
# would, and run in the test machine.

EXAMPLES := encrypt seal async

$(EXAMPLES:%=$(B)/examples/%): $(B)/examples/%: examples/user/%.c \
		examples/user/hex.h $(wildcard include/uapi/*/*.h) \
		$(wildcard include/uapi/*/*/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -Wextra -Werror -Iinclude/uapi -o $@ $<

$(B)/examples/seal_openssl: examples/tests/seal_openssl.c \
		examples/user/hex.h $(wildcard tools/lib/*)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -Wextra -Werror -o $@ $< tools/lib/oracle.c -lcrypto

.PHONY: examples-built
examples-built: $(EXAMPLES:%=$(B)/examples/%) $(B)/examples/seal_openssl
