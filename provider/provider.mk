# SPDX-License-Identifier: BSD-2-Clause
#
# ocf.so, a provider for OpenSSL.
#
#	make provider

PROVIDER := $(B)/provider/ocf.so
PROVIDER_OBJECTS := $(patsubst provider/%.c,$(B)/provider/%.o,\
	$(wildcard provider/*.c))

$(B)/provider/%.o: provider/%.c $(wildcard provider/*.h) $(LIB_HEADERS) VERSION
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -fPIC $(TEST_WARN) -Ilib/include -Iinclude/uapi \
		$(CPPFLAGS) $(CFLAGS) -DOCF_VERSION='"$(shell cat VERSION)"' -c -o $@ $<

# Of libocf it has what it needs inside.
$(PROVIDER): $(PROVIDER_OBJECTS) $(LIB)/crypt.o $(LIB)/public.o \
	     provider/ocf.map
	$(Q)$(CC) -shared -Wl,--version-script=provider/ocf.map -Wl,-z,defs \
		-Wl,-z,nodelete -o $@ $(filter %.o,$^) $(LDFLAGS) -lcrypto \
		-lpthread

.PHONY: provider
provider: deps $(PROVIDER)
