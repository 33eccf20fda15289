// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program loads libocf-openssl, as a plugin may do, and closes it with
 * dlclose().  OpenSSL then still calls its callbacks for every connection that
 * begins and ends.
 *
 *	closed LIBRARY
 */
#include <dlfcn.h>
#include <err.h>
#include <openssl/ssl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	SSL_CTX *ctx = SSL_CTX_new(TLS_method()), *other;
	int (*watch)(SSL_CTX *ctx);
	SSL *ssl;

	if (!library)
		errx(1, "%s", dlerror());
	watch = (int (*)(SSL_CTX *))dlsym(library, "ocf_tls_context");
	if (!watch || watch(ctx))
		errx(1, "ocf_tls_context");
	SSL_CTX_free(ctx);
	if (dlclose(library))
		errx(1, "%s", dlerror());
	other = SSL_CTX_new(TLS_method());
	ssl = SSL_new(other);
	if (!ssl)
		errx(1, "a connection");
	SSL_free(ssl);
	SSL_CTX_free(other);
	puts("closed: connections begin and end");
	return 0;
}
