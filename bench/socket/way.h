/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to send a file over a connection, so that it arrives encrypted.
 */
#ifndef BENCH_SOCKET_WAY_H
#define BENCH_SOCKET_WAY_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct suite - how a file is encrypted
 * @name: as it is printed
 * @cipher: as SO_CRYPT has it
 * @mac: the same, or ""; encrypt-then-MAC
 * @keylen: bytes
 * @mackeylen: bytes
 * @ivlen: bytes of SO_CRYPT's IV
 * @dev_cipher: as /dev/crypto has it
 * @dev_mac: the same, or 0
 * @openssl: a suite of TLS 1.2 with this and a shared secret, or NULL
 * @ktls: kTLS has it
 */
struct suite {
	const char	*name;
	const char	*cipher, *mac;
	unsigned int	keylen, mackeylen, ivlen;
	int		dev_cipher, dev_mac;
	const char	*openssl;
	bool		ktls;
};

extern const struct suite suite_gcm, suite_cbc, suite_3des;

/**
 * struct link - a connection on which a file is to be sent
 * @suite: how
 * @cards: cards are to encrypt it; the way by /dev/crypto ignores this
 * @to: the socket
 * @file: the file
 * @size: bytes of it
 * @crypto: /dev/crypto
 * @ses: a session of it
 * @ssl: OpenSSL's
 */
struct link {
	const struct suite *suite;
	bool		cards;
	int		to;
	int		file;
	size_t		size;
	int		crypto;
	uint32_t	ses;
	SSL		*ssl;
};

/**
 * struct way - a way to send a file
 * @name: as it is printed
 * @buffer: bytes that are read at a time, or 0
 * @knows: whether it can be had with a suite
 * @set: prepares a connection
 * @send: sends the file, from its beginning
 * @end: undoes @set, but for the socket; or NULL
 * @handshake: the peer shakes hands
 */
struct way {
	const char	*name;
	size_t		buffer;
	bool		(*knows)(const struct suite *s, bool cards);
	void		(*set)(struct link *l);
	void		(*send)(struct link *l, size_t buffer);
	void		(*end)(struct link *l);
	bool		handshake;
};

enum { WAY_SO_CRYPT = 7, WAYS = 10 };

extern const struct way ways[WAYS];

/*
 * link.c.  link_prepare() comes first.  link_file() is a file of so many MiB on
 * tmpfs.  link_open() connects and sets @l->to up as @w has it; the process on
 * the other end discards the data without copying or decrypting them, and exits
 * after the last.
 */
void link_prepare(void);
int link_file(size_t mib);
pid_t link_open(struct link *l, const struct way *w);
void link_wait(pid_t pid);

/*
 * Does the peer's side of the TLS handshake on @fd, for a struct way with
 * @handshake.  Returns when the handshake is complete.
 */
void way_accept(int fd);

#endif /* BENCH_SOCKET_WAY_H */
