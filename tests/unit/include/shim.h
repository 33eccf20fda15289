/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of the kernel's headers as the core's pure files ask for, in user
 * space.  Every <linux/...> here leads to this file.
 */
#ifndef SHIM_H
#define SHIM_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned int gfp_t;
typedef struct { unsigned int val; } kuid_t;

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (63 - (h))))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define BITS_PER_LONG		64
#define DECLARE_BITMAP(n, bits)	unsigned long n[((bits) + 63) / 64]
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define array_index_nospec(i, n) (i)
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX

#define __aligned(n)		__attribute__((aligned(n)))
#define CRYPTO_MINALIGN_ATTR	__aligned(8)
#define __user
#define __rcu
#define __percpu
#define likely(x)		(x)
#define unlikely(x)		(x)
/* atomic, so that the thread sanitizer reports only the other accesses */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define OPTIMIZER_HIDE_VAR(v)	__asm__("" : "=r"(v) : "0"(v))
#define EXPORT_SYMBOL_NS_GPL(sym, ns)
#define MODULE_IMPORT_NS(ns)
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 13, 0)

#define min(a, b)		((a) < (b) ? (a) : (b))
#define min3(a, b, c)		min(min(a, b), c)
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)		((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define clamp_t(t, v, l, h)	min_t(t, max_t(t, v, l), h)
#define ilog2(n)		(31 - __builtin_clz(n))
#define memzero_explicit(p, n)	explicit_bzero(p, n)

static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	__extension__ typedef unsigned __int128 u128;

	return (u128)a * b / c;
}
static inline s64 div64_s64(s64 a, s64 b) { return a / b; }
#define max3(a, b, c)		max(max(a, b), c)

static inline int fls(unsigned int n)
{
	return n ? 32 - __builtin_clz(n) : 0;
}

static inline const void *memchr_inv(const void *data, int c, size_t len)
{
	const u8 *at = data;

	for (; len && *at == c; len--)
		at++;
	return len ? at : NULL;
}

static inline void *ERR_PTR(long err) { return (void *)err; }
static inline long PTR_ERR(const void *p) { return (long)p; }
static inline bool IS_ERR(const void *p) { return PTR_ERR(p) < 0; }

__attribute__((format(printf, 3, 4)))
static inline int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	if (!size)
		return 0;
	return n < (int)size ? n : (int)size - 1;
}

typedef struct { int counter; } atomic_t;
static inline int atomic_read(const atomic_t *a) { return a->counter; }
typedef struct { int unused; } refcount_t;

struct list_head { struct list_head *next, *prev; };
struct llist_node { struct llist_node *next; };
struct work_struct { int unused; };
struct rcu_head { int unused; };
struct completion { int unused; };
struct scatterlist { int unused; };
struct device;

/* <linux/jump_label.h> */
#define DECLARE_STATIC_KEY_FALSE(name)	extern int name
#define static_branch_unlikely(key)	(*(key))

#endif /* SHIM_H */
