# SPDX-License-Identifier: BSD-2-Clause
#
# What of the tools is compiled: ocf-speed, with which ocfspeed measures.

SPEED_WITH := $(wildcard tools/speed/*.c) tools/lib/oracle.c \
	      tools/lib/ids_linux.c tools/lib/ids_bsd.c

$(B)/tools/ocf-speed: $(SPEED_WITH) $(wildcard tools/*/*.h include/uapi/*/*.h) \
		      $(LIB)/libocf.so.0
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-Wno-unused-parameter -Iinclude/uapi -Ilib/include \
		$(CPPFLAGS) $(CFLAGS) -o $@ $(SPEED_WITH) $(LDFLAGS) -L$(LIB) \
		-locf -lcrypto -Wl,-rpath,'$$ORIGIN/../lib:$$ORIGIN/..'

.PHONY: tools
tools: deps $(B)/tools/ocf-speed
