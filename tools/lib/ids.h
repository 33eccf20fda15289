/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two /dev/crypto headers use the same names for different things, so
 * each has a file of its own that tells what it says (ids_linux.c, ids_bsd.c).
 */
#ifndef IDS_H
#define IDS_H

/**
 * struct id - a number that an ABI has for an algorithm
 * @alg: the framework's name of it, or NULL if it is not implemented
 * @id: the number in the header
 * @was: the number in the ABI's own project
 */
struct id {
	const char	*alg;
	unsigned int	id, was;
};

/**
 * struct call - an ioctl
 * @name: in the header
 * @number: in the header
 * @was: the number that the project of this ABI has on 64-bit machines, in
 *	Linux's encoding
 */
struct call {
	const char	*name;
	unsigned long	number, was;
};

extern const struct id ids_linux[], ids_bsd[];
extern const int nids_linux, nids_bsd;
extern const struct call calls_linux[], calls_bsd[];
extern const int ncalls_linux, ncalls_bsd;

#endif /* IDS_H */
