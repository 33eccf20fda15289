// SPDX-License-Identifier: BSD-2-Clause
/*
 * What examples/user/seal makes, made by OpenSSL:
 *
 *	seal_openssl KEY NONCE HEADER < in > out
 */
#include "../../tools/lib/oracle.h"
#include "../user/hex.h"

#define LEN_MAX	262140
#define TAG	16

int main(int argc, char **argv)
{
	static uint8_t in[LEN_MAX + 1], out[LEN_MAX + TAG];
	uint8_t key[32], nonce[12];
	size_t keylen, len;

	if (argc != 4 || !oracle_init())
		return 2;
	keylen = from_hex(argv[1], key, sizeof(key));
	from_hex(argv[2], nonce, sizeof(nonce));
	len = fread(in, 1, sizeof(in), stdin);
	if (len > LEN_MAX ||
	    !oracle_seal("aes-gcm", key, keylen, nonce, sizeof(nonce),
			 (const uint8_t *)argv[3], strlen(argv[3]), in, len,
			 out, out + len, TAG))
		return 1;
	return fwrite(out, 1, len + TAG, stdout) != len + TAG ||
	       fflush(stdout);
}
