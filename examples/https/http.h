/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP of a server of files: RFC 9110 and 9112, as much as GET and HEAD need.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct answer - what is sent for a request
 * @file: its bytes come from here, or -1; the caller's to close
 * @from: the first one
 * @size: how many
 * @keep: another request may follow
 * @head: status line and fields, with the empty line
 * @head_len: bytes of it
 */
struct answer {
	int	file;
	off_t	from;
	off_t	size;
	bool	keep;
	char	head[512];
	size_t	head_len;
};

size_t http_request_size(const char *bytes, size_t n);
void http_answer(int root, char *request, struct answer *a);
void http_refuse(int status, struct answer *a);

#endif /* HTTP_H */
