# SPDX-License-Identifier: BSD-2-Clause
#
# SO_CRYPT: docs/socrypt.md.

PEERS := $(B)/socrypt/peer-openssl $(B)/socrypt/peer-gnutls

# the libraries' own are left out by the linker where they are not used
$(PEERS): $(B)/socrypt/peer-%: tests/socrypt/peer_%.c tests/socrypt/peer.c \
		tests/socrypt/peer.h lib
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(TEST_WARN) -Ilib/include -Iinclude/uapi -o $@ \
		$(filter %.c,$^) -L$(LIB) -locf-$* -locf -l$(LIBS_$*) \
		-Wl,-rpath,'$$ORIGIN/../lib'
$(B)/socrypt/attach: tests/socrypt/attach.c tests/lib/tcp.h lib
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(TEST_WARN) -Ilib/include -Iinclude/uapi -o $@ $< \
		-L$(LIB) -locf-openssl -locf -lssl -lcrypto \
		-Wl,-rpath,'$$ORIGIN/../lib'
# the debug kernel only
$(B)/socrypt/fail: tests/socrypt/fail.c $(SELF_DEPS) $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -D_GNU_SOURCE -o $@ $<
$(B)/socrypt/priorities: tests/socrypt/priorities.c tests/lib/tcp.h \
		tests/selftests/random.h include/uapi/linux/so_crypt.h \
		$(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -D_GNU_SOURCE -o $@ $<
# Linux's own, which is not written for our warnings
$(B)/socrypt/linux: $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -w -D_GNU_SOURCE -o $@ \
		$(B)/linux-tools/tools/testing/selftests/net/tls.c
LIBS_openssl := ssl -lcrypto
LIBS_gnutls := gnutls

