/* SPDX-License-Identifier: BSD-2-Clause */
/* Unloads the project's modules, and loads them again. */
#ifndef MODULES_H
#define MODULES_H

#include <sys/syscall.h>

#include "dev.h"

#define MODULES_MAX	16

/* The modules in the order in which they are loaded */
struct modules {
	int	n;
	char	path[MODULES_MAX][512];
};

/*
 * Finds the modules.  Returns false if the test machine has not told where they
 * are.
 */
static inline bool modules_find(struct modules *m)
{
	const char *tree = getenv("OCF_MODULES") ?: "";
	char order[512], line[256];
	FILE *f;

	m->n = 0;
	snprintf(order, sizeof(order), "%s/modules.order.ocf", tree);
	f = fopen(order, "re");
	while (f && m->n < MODULES_MAX && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(m->path[m->n++], sizeof(m->path[0]), "%.255s/%s",
			 tree, line);
	}
	if (f)
		fclose(f);
	return m->n;
}

static inline const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Unloads a module.  Returns 0 or an errno: EAGAIN if it is in use. */
static inline int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? errno : 0;
}

#define MODPROBE	"/proc/sys/kernel/modprobe"

/*
 * Loads a module.  Returns 0 or an errno.  The kernel may not call modprobe
 * meanwhile: all that it would load is loaded already, and a hundred processes
 * of modprobe are slow to emulate.
 */
static inline int module_load(const struct modules *m, const char *name,
			      const char *parameters)
{
	size_t len = strlen(name);
	char modprobe[4096];
	int i, fd, err;

	for (i = 0; i < m->n; i++)
		if (!strncmp(base_of(m->path[i]), name, len) &&
		    !strcmp(base_of(m->path[i]) + len, ".ko"))
			break;
	if (i == m->n)
		return ENOENT;
	fd = open(m->path[i], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	snprintf(modprobe, sizeof(modprobe), "%s", get_line(MODPROBE));
	err = put_line(MODPROBE, "\n");
	if (!err && syscall(SYS_finit_module, fd, parameters, 0))
		err = errno;
	close(fd);
	return put_line(MODPROBE, modprobe) ?: err;
}

#endif /* MODULES_H */
