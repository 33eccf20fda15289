# SPDX-License-Identifier: BSD-2-Clause
#
# libocf, and what takes keys from OpenSSL and from GnuTLS.
#
#	make lib

LIB := $(B)/lib
LIB_CFLAGS := -O2 -g -fPIC $(TEST_WARN) -Ilib/include -Iinclude/uapi \
	      $(CPPFLAGS) $(CFLAGS)
LIB_HEADERS := $(wildcard lib/*.h lib/include/ocf/*.h include/uapi/linux/*.h)

comma := ,

# libNAME.so.0 of OBJECTS, with LIBS
define library
$(LIB)/$(1).so.0: $(2:%=$(LIB)/%.o) lib/libocf.map
	$(Q)$(CC) -shared -Wl,-soname,$(1).so.0 \
		-Wl,--version-script=lib/libocf.map -Wl,-z,defs -Wl,-rpath,'$$$$ORIGIN' -o $$@ \
		$(2:%=$(LIB)/%.o) $(LDFLAGS) -L$(LIB) $(3)
	@ln -sf $(1).so.0 $(LIB)/$(1).so
endef

$(LIB)/%.o: lib/%.c $(LIB_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LIB_CFLAGS) -c -o $@ $<

$(eval $(call library,libocf,socket crypt queue public,-luring))
# OpenSSL calls it for as long as the process has connections, whoever loaded it
$(eval $(call library,libocf-openssl,tls watch schedule,-locf -lssl -lcrypto \
	-Wl$(comma)-z$(comma)nodelete))
$(eval $(call library,libocf-gnutls,gnutls,-locf -lgnutls))
$(LIB)/libocf-openssl.so.0 $(LIB)/libocf-gnutls.so.0: $(LIB)/libocf.so.0

.PHONY: lib
lib: deps $(LIB)/libocf.so.0 $(LIB)/libocf-openssl.so.0 \
     $(LIB)/libocf-gnutls.so.0

$(B)/examples/https: $(wildcard examples/https/*) $(LIB)/libocf-openssl.so.0
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -Wextra -Werror -Ilib/include -Iinclude/uapi \
		-o $@ $(filter %.c,$^) -L$(LIB) -locf-openssl -locf \
		-lssl -lcrypto -Wl,-rpath,'$$ORIGIN/../lib'
