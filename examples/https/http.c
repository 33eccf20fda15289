// SPDX-License-Identifier: BSD-2-Clause
/*
 * HTTP of a server of files.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "http.h"

/* What is asked for, as it came. */
struct request {
	char	*method, *target, *version;
	char	*range;
	bool	has_body, close, keep;
};

/* Bytes of the request that is whole, or 0. */
size_t http_request_size(const char *bytes, size_t n)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);

	return end ? end + 4 - bytes : 0;
}

/* ---- reading ---- */

static bool read_first_line(char *line, struct request *r)
{
	r->method = strsep(&line, " ");
	r->target = strsep(&line, " ");
	r->version = line;
	return r->version && *r->target == '/' &&
	       !strncmp(r->version, "HTTP/1.", 7) &&
	       isdigit((unsigned char)r->version[7]) && !r->version[8];
}

static bool read_field(char *line, struct request *r)
{
	char *value = strchr(line, ':');

	/* RFC 9112, 5.1: no space before the colon, none at the beginning */
	if (!value || value == line || strcspn(line, " \t\r\n") <
	    (size_t)(value - line) || strpbrk(value, "\r\n"))
		return false;
	*value++ = 0;
	value += strspn(value, " \t");
	if (!strcasecmp(line, "range"))
		r->range = value;
	else if (!strcasecmp(line, "transfer-encoding"))
		r->has_body = true;
	else if (!strcasecmp(line, "content-length"))
		r->has_body |= strcmp(value, "0") != 0;
	else if (!strcasecmp(line, "connection"))
		r->close |= !!strcasestr(value, "close"),
		r->keep |= !!strcasestr(value, "keep-alive");
	return true;
}

/* Takes a request to pieces; it ends with an empty line. */
static bool read_request(char *text, struct request *r)
{
	char *line, *end;

	*r = (struct request){};
	for (line = text; (end = strstr(line, "\r\n")); line = end + 2) {
		*end = 0;
		if (end == line)
			return line != text;
		if (line == text ? !read_first_line(line, r) :
				   !read_field(line, r))
			return false;
	}
	return false;
}

static int hex(char c)
{
	return !isxdigit((unsigned char)c) ? -1 :
	       isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

/* The path a target means, in its place; NULL if it means none. */
static char *path_of(char *target)
{
	char *from = target + 1, *to = target;

	from[strcspn(from, "?#")] = 0;
	while (*from) {
		if (*from != '%') {
			*to++ = *from++;
			continue;
		}
		if (hex(from[1]) < 0 || hex(from[2]) < 0)
			return NULL;
		*to = hex(from[1]) << 4 | hex(from[2]);
		if (!*to++)
			return NULL;
		from += 3;
	}
	*to = 0;
	return target;
}

/* ---- files ---- */

static int open_beneath(int root, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, root, *path ? path : ".", &how,
		       sizeof(how));
}

/* A regular file, or index.html of a folder; -1: there is none. */
static int open_file(int root, const char *path, struct stat *st)
{
	int fd = open_beneath(root, path), index;

	if (fd >= 0 && !fstat(fd, st) && S_ISDIR(st->st_mode)) {
		index = open_beneath(fd, "index.html");
		close(fd);
		fd = index;
	}
	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static const char *type_of(const char *path)
{
	static const char types[][2][32] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".txt", "text/plain; charset=utf-8" },
		{ ".css", "text/css" }, { ".js", "text/javascript" },
		{ ".json", "application/json" }, { ".svg", "image/svg+xml" },
		{ ".png", "image/png" }, { ".jpg", "image/jpeg" },
	};
	const char *dot = strrchr(path, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(types) / sizeof(*types); i++)
		if (!strcasecmp(dot, types[i][0]))
			return types[i][1];
	return "application/octet-stream";
}

/*
 * RFC 9110, 14.1.2, one range only: for several ranges or an invalid one, the
 * whole file is sent.
 * Return: the status.
 */
static int cut(const char *range, struct answer *a)
{
	off_t size = a->size, first, last;
	char *end;

	if (!range || strncmp(range, "bytes=", 6))
		return 200;
	range += 6;
	if (*range == '-' && isdigit((unsigned char)range[1])) {
		first = strtoll(range + 1, &end, 10);
		last = size - 1;
		if (*end)
			return 200;
		if (!first)
			return 416;
		first = first < size ? size - first : 0;
	} else if (isdigit((unsigned char)*range)) {
		first = strtoll(range, &end, 10);
		if (*end++ != '-')
			return 200;
		last = isdigit((unsigned char)*end) ? strtoll(end, &end, 10) :
						      INT64_MAX;
		if (*end || last < first)
			return 200;
		last = last < size ? last : size - 1;
	} else {
		return 200;
	}
	if (first >= size)
		return 416;
	a->from = first;
	a->size = last - first + 1;
	return 206;
}

/* ---- answering ---- */

static const char *reason(int status)
{
	switch (status) {
	case 200: return "OK";
	case 206: return "Partial Content";
	case 400: return "Bad Request";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 416: return "Range Not Satisfiable";
	case 431: return "Request Header Fields Too Large";
	default: return "Internal Server Error";
	}
}

static void __attribute__((format(printf, 2, 3)))
say(struct answer *a, const char *format, ...)
{
	size_t room = sizeof(a->head) - a->head_len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(a->head + a->head_len, room, format, args);
	va_end(args);
	a->head_len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void say_status(struct answer *a, int status)
{
	char now[64];
	time_t t = time(NULL);
	struct tm tm;

	strftime(now, sizeof(now), "%a, %d %b %Y %H:%M:%S GMT",
		 gmtime_r(&t, &tm));
	say(a, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, reason(status), now);
}

static void say_end(struct answer *a, off_t size)
{
	say(a, "Content-Length: %lld\r\nConnection: %s\r\n\r\n",
	    (long long)size, a->keep ? "keep-alive" : "close");
}

static void fail(struct answer *a, int status, off_t whole)
{
	say_status(a, status);
	if (status == 405)
		say(a, "Allow: GET, HEAD\r\n");
	if (status == 416)
		say(a, "Content-Range: bytes */%lld\r\n", (long long)whole);
	say_end(a, 0);
}

/* An answer to what was not understood: nothing can follow it. */
void http_refuse(int status, struct answer *a)
{
	*a = (struct answer){ .file = -1 };
	fail(a, status, 0);
}

static void give(struct answer *a, const struct request *r, const char *path,
		 off_t whole)
{
	int status = cut(r->range, a);

	if (status == 416) {
		close(a->file);
		a->file = -1;
		a->size = 0;
		fail(a, status, whole);
		return;
	}
	say_status(a, status);
	say(a, "Content-Type: %s\r\nAccept-Ranges: bytes\r\n", type_of(path));
	if (status == 206)
		say(a, "Content-Range: bytes %lld-%lld/%lld\r\n",
		    (long long)a->from, (long long)(a->from + a->size - 1),
		    (long long)whole);
	say_end(a, a->size);
}

/**
 * http_answer() - what a request is answered
 * @root: the folder
 * @request: it, whole, with a NUL after it; is written to
 * @a: is filled in
 */
void http_answer(int root, char *request, struct answer *a)
{
	struct request r;
	struct stat st;
	char *path;
	bool head;

	path = read_request(request, &r) ? path_of(r.target) : NULL;
	if (!path) {
		http_refuse(400, a);
		return;
	}
	*a = (struct answer){ .file = -1 };
	/* a body would have to be read before the next request */
	a->keep = !r.has_body && !r.close &&
		  (r.keep || strcmp(r.version, "HTTP/1.0"));
	head = !strcmp(r.method, "HEAD");
	if (!head && strcmp(r.method, "GET")) {
		fail(a, 405, 0);
		return;
	}
	a->file = open_file(root, path, &st);
	if (a->file < 0) {
		fail(a, 404, 0);
		return;
	}
	a->size = st.st_size;
	give(a, &r, path, st.st_size);
	if (a->file >= 0 && (head || !a->size)) {
		close(a->file);
		a->file = -1;
		a->size = 0;
	}
}
