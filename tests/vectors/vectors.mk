# SPDX-License-Identifier: BSD-2-Clause
#
# Known answers of others, through /dev/crypto: see tests/vectors/README.

VEC_DATA := typed-standards typed-protocols \
	nist-aes-cbc nist-aes-ecb rfc3686-aes-ctr nist-aes-xts \
	nist-des3-cbc nist-des-cbc blowfish-cbc cast5-cbc camellia-cbc \
	rfc8439-chacha20 nist-aes-gcm nist-aes-ccm chacha20-poly1305 \
	hashes nist-sha1 nist-sha224 nist-sha256 nist-sha384 nist-sha512 \
	nist-sha3-224 nist-sha3-256 nist-sha3-384 nist-sha3-512 \
	blake2-keyed rfc-hmac nist-aes-cmac nist-aes-gmac linux-authenc \
	$(addprefix wycheproof-,aes-gcm aes-ccm chacha20-poly1305 aes-cbc \
		camellia-cbc aes-xts aes-cmac aes-gmac hmac-sha1 hmac-sha224 \
		hmac-sha256 hmac-sha384 hmac-sha512 hmac-sha3-224 \
		hmac-sha3-256 hmac-sha3-384 hmac-sha3-512)

VEC_FILES := $(VEC_DATA:%=tests/vectors/data/%.txt)
VEC_SRCS := $(addprefix tests/vectors/,run_vectors.c algs.c parse.c check.c \
	monte.c linux.c bsd.c) tools/lib/ids_linux.c tools/lib/ids_bsd.c

.PHONY: vectors

$(B)/vectors/run_vectors: $(VEC_SRCS) $(wildcard tests/vectors/*.h) \
			  $(SELF_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -g -O2 $(TEST_WARN) -Iinclude/uapi -o $@ \
		$(VEC_SRCS)

vectors: modules machine $(B)/vectors/run_vectors
	@$(VM) $(WATCHFUL) -- $(B)/vectors/run_vectors $(VEC_FILES)
