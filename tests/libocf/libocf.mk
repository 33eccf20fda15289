# SPDX-License-Identifier: BSD-2-Clause
#
# libocf: sessions, queues and public keys.

LIBOCF_TESTS := $(B)/libocf/crypt $(B)/libocf/queue

$(LIBOCF_TESTS): $(B)/libocf/%: tests/libocf/%.c tests/libocf/libocf.h \
		 tests/selftests/dev.h lib $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -Ilib/include -o $@ $< -L$(LIB) -locf \
		-luring -lpthread -Wl,-rpath,'$$ORIGIN/../lib'

# The library as it is when structures have grown, and programs have not
GROWN := $(B)/libocf/grown
$(GROWN)/libocf.so.0: $(wildcard lib/*.c) lib/libocf.map $(LIB_HEADERS)
	@mkdir -p $(@D)/linux
	@sed -E '/^struct ocf_(session_query|algorithm) \{/,/^};/s/^}/__u64 grown; }/' \
		include/uapi/linux/ocf.h > $(@D)/linux/ocf.h
	$(Q)$(CC) -I$(@D) $(LIB_CFLAGS) -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=lib/libocf.map -o $@ \
		$(addprefix lib/,socket.c crypt.c queue.c public.c) -luring

$(B)/libocf/closed: tests/libocf/closed.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -g $(TEST_WARN) -o $@ $< -lssl -lcrypto -ldl

$(B)/libocf/wheel: $(wildcard python/ocf/* python/pyproject.toml) VERSION scripts/wheel
	@mkdir -p $(@D)
	@scripts/wheel $(B)/libocf >$(B)/libocf/wheel.log 2>&1 || \
		{ cat $(B)/libocf/wheel.log; exit 1; }
	@touch $@
