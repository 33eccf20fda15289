/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the native interface's calls and of its io_uring entries
 * share.
 */
#ifndef HOSTILE_NATIVE_H
#define HOSTILE_NATIVE_H

#include <linux/ocf.h>

#include "hostile.h"
#include "random.h"

/* commands of a vector that use sessions; one public-key command follows */
#define COMMANDS	3
#define COOKIES		8

/**
 * struct many - a vector and what it names
 * @v: the vector
 * @c: commands
 * @pk: one more
 * @values: its operands, and its result
 * @r: results
 */
struct many {
	struct ocf_vector	v;
	struct ocf_command	c[COMMANDS];
	struct ocf_pk_command	pk;
	struct ocf_pk_value	values[4];
	struct ocf_result	r[COMMANDS + 1];
};

/*
 * Fill in a command for a random session, and a vector of such commands with
 * room for results.
 */
void a_command(struct ocf_command *c);
void a_vector(struct many *m);

/* The fields of a command that can be spoiled */
#define COMMAND_FIELDS(type_, c_)			\
	FIELD(type_, c_.session, SESSION),		\
	FIELD(type_, c_.op, NUMBER),			\
	FIELD(type_, c_.ivlen, NUMBER),			\
	FIELD(type_, c_.flags, NUMBER),			\
	FIELD(type_, c_.src, POINTER),			\
	FIELD(type_, c_.dst, POINTER),			\
	FIELD(type_, c_.aad, POINTER),			\
	FIELD(type_, c_.aad, LENGTH),			\
	FIELD(type_, c_.tag, POINTER),			\
	FIELD(type_, c_.len, LENGTH),			\
	FIELD(type_, c_.auth_len, LENGTH),		\
	FIELD(type_, c_.dst_len, LENGTH),		\
	FIELD(type_, c_.pad, NUMBER)

/* Errors that a command may end with, also one of public keys */
#define RESULTS		EINVAL, E2BIG, EFAULT, EBADMSG, EBUSY, ECANCELED, \
			ENODEV, EIO, ENOSPC, EDQUOT, ENOMEM, EKEYREJECTED, \
			EDOM, EOPNOTSUPP, EPERM

#endif /* HOSTILE_NATIVE_H */
