// SPDX-License-Identifier: BSD-2-Clause
/*
 * GnuTLS with its port to /dev/crypto: the library's own known answers, and a
 * TLS connection between two processes that share the descriptor.
 *
 *	gnutls		exits 0 if all is right
 *
 * AES-GCM is tried in place only: from elsewhere, decryption looks for the tag
 * behind the plaintext (aes_gcm_decrypt(), 3.7.9), where no kernel puts it.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/self-test.h>

#define LEN		(1 << 20)
#define PRIORITY	"NONE:+VERS-TLS1.2:+AES-256-CBC:+SHA1:+SIGN-ALL:" \
			"+COMP-NULL:+ANON-ECDH:+GROUP-ALL"

#define CHECK(cond) do { \
	if (!(cond)) \
		errx(1, "%s: not so: %s", __func__, #cond); \
} while (0)

static void known_answers(void)
{
	static const gnutls_cipher_algorithm_t ciphers[] = {
		GNUTLS_CIPHER_3DES_CBC, GNUTLS_CIPHER_AES_128_CBC,
		GNUTLS_CIPHER_AES_192_CBC, GNUTLS_CIPHER_AES_256_CBC,
	};
	static const gnutls_digest_algorithm_t digests[] = {
		GNUTLS_DIG_MD5, GNUTLS_DIG_SHA1, GNUTLS_DIG_SHA256,
		GNUTLS_DIG_SHA384, GNUTLS_DIG_SHA512,
	};
	static const gnutls_mac_algorithm_t macs[] = {
		GNUTLS_MAC_MD5, GNUTLS_MAC_SHA1, GNUTLS_MAC_SHA256,
		GNUTLS_MAC_SHA384, GNUTLS_MAC_SHA512,
	};
	unsigned int i;

	for (i = 0; i < sizeof(ciphers) / sizeof(*ciphers); i++)
		CHECK(!gnutls_cipher_self_test(0, ciphers[i]));
	for (i = 0; i < sizeof(digests) / sizeof(*digests); i++)
		CHECK(!gnutls_digest_self_test(0, digests[i]));
	for (i = 0; i < sizeof(macs) / sizeof(*macs); i++)
		CHECK(!gnutls_mac_self_test(0, macs[i]));
}

static void gcm_in_place(void)
{
	/*
	 * GCM spec, test case 1: the tag of an empty message, with key and
	 * nonce zero
	 */
	static const unsigned char tag[16] = {
		0x58, 0xe2, 0xfc, 0xce, 0xfa, 0x7e, 0x30, 0x61,
		0x36, 0x7f, 0x1d, 0x57, 0xa4, 0xe7, 0x45, 0x5a,
	};
	unsigned char key[16] = "", iv[12] = "", buf[64] = "";
	gnutls_datum_t k = { key, sizeof(key) };
	gnutls_aead_cipher_hd_t h;
	size_t n = sizeof(buf);

	CHECK(!gnutls_aead_cipher_init(&h, GNUTLS_CIPHER_AES_128_GCM, &k));
	CHECK(!gnutls_aead_cipher_encrypt(h, iv, 12, "", 0, 16, buf, 0, buf,
					  &n));
	CHECK(n == 16 && !memcmp(buf, tag, 16));
	memset(buf, 'x', 40);
	n = sizeof(buf);
	CHECK(!gnutls_aead_cipher_encrypt(h, iv, 12, "aad", 3, 16, buf, 40, buf,
					  &n));
	CHECK(n == 56 && buf[0] != 'x');
	CHECK(!gnutls_aead_cipher_decrypt(h, iv, 12, "aad", 3, 16, buf, 56, buf,
					  &n));
	CHECK(buf[0] == 'x' && !memcmp(buf, buf + 1, 39));
	gnutls_aead_cipher_deinit(h);
}

/* One call for each, of the most that one may have. */
static void a_long_digest(void)
{
	unsigned char *big = calloc(16, LEN), one[32], parts[32];
	gnutls_hash_hd_t h;

	CHECK(big);
	CHECK(!gnutls_hash_fast(GNUTLS_DIG_SHA256, big, 16 * LEN, one));
	CHECK(!gnutls_hash_init(&h, GNUTLS_DIG_SHA256));
	CHECK(!gnutls_hash(h, big, 16 * LEN));
	gnutls_hash_deinit(h, parts);
	CHECK(!memcmp(one, parts, 32));
	free(big);
}

static gnutls_session_t begin(int fd, unsigned int end)
{
	gnutls_session_t s;
	int ret;

	CHECK(!gnutls_init(&s, end));
	CHECK(!gnutls_priority_set_direct(s, PRIORITY, NULL));
	if (end == GNUTLS_CLIENT) {
		static gnutls_anon_client_credentials_t cred;

		CHECK(!gnutls_anon_allocate_client_credentials(&cred));
		gnutls_credentials_set(s, GNUTLS_CRD_ANON, cred);
	} else {
		static gnutls_anon_server_credentials_t cred;

		CHECK(!gnutls_anon_allocate_server_credentials(&cred));
		gnutls_credentials_set(s, GNUTLS_CRD_ANON, cred);
	}
	gnutls_transport_set_int(s, fd);
	do {
		ret = gnutls_handshake(s);
	} while (ret < 0 && !gnutls_error_is_fatal(ret));
	CHECK(!ret);
	return s;
}

static void send_all(int fd, const unsigned char *data)
{
	gnutls_session_t s = begin(fd, GNUTLS_SERVER);
	size_t at, len;
	ssize_t n;

	for (at = 0; at < LEN; at += n) {
		/* of all lengths, for all paddings */
		len = at % 3001 + 1 < LEN - at ? at % 3001 + 1 : LEN - at;
		n = gnutls_record_send(s, data + at, len);
		CHECK(n > 0);
	}
	CHECK(!gnutls_bye(s, GNUTLS_SHUT_WR));
}

static void receive_all(int fd, const unsigned char *data)
{
	gnutls_session_t s = begin(fd, GNUTLS_CLIENT);
	unsigned char *got = malloc(LEN + 1);
	size_t at = 0;
	ssize_t n;

	CHECK(got);
	while ((n = gnutls_record_recv(s, got + at, LEN + 1 - at)) > 0)
		at += n;
	CHECK(!n && at == LEN && !memcmp(got, data, LEN));
}

static void a_connection(void)
{
	unsigned char *data = malloc(LEN);
	int fds[2], i, status;
	pid_t pid;

	CHECK(data && !socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	for (i = 0; i < LEN; i++)
		data[i] = i * 2654435761u >> 24;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		send_all(fds[0], data);
		_exit(0);
	}
	close(fds[0]);
	receive_all(fds[1], data);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

int main(void)
{
	CHECK(!gnutls_global_init());
	known_answers();
	gcm_in_place();
	a_long_digest();
	a_connection();
	return 0;
}
