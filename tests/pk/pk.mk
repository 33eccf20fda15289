# SPDX-License-Identifier: BSD-2-Clause
#
# Keys for the tests of public-key operations.

# in `openssl genrsa -traditional`'s form
PK_BITS := 1024 2048 3072 4096 8192
PK_KEYS := $(PK_BITS:%=$(B)/pk/rsa%.pem)
$(B)/pk/rsa%.pem:
	@mkdir -p $(@D)
	$(Q)openssl genrsa -traditional -out $@ $* 2>/dev/null

$(B)/pk/keys: $(PK_KEYS)
	@touch $@
