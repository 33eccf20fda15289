// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: ocf/sessions, a line for each session.  Only root can read it, and
 * it contains no key, IV or data.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../core.h"

static struct dentry *dir;

static int sessions_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "# mode cipher mac operations bytes errors [from-ns:count ...]\n");
	ocf_sessions_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sessions);

void ocf_debug_init(void)
{
	dir = debugfs_create_dir("ocf", NULL);
	debugfs_create_file("sessions", 0400, dir, NULL, &sessions_fops);
}

void ocf_debug_exit(void)
{
	debugfs_remove(dir);
}
