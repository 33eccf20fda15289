// SPDX-License-Identifier: BSD-2-Clause
/*
 * PID 1 of the test machine.
 *
 * It runs in an initramfs and loads the few modules that reach the host's file
 * tree over 9p.  It makes that tree its root: writes go to memory, except in
 * the checkout, which is the host's own.  Then it loads the project's modules,
 * runs one command and reports how it ended.
 *
 * What to do is in /run.conf: records of KEY=VALUE, each ended by a NUL byte,
 * obeyed in the order of the steps in main().  The ports to the host are
 * virtio-serial ports, found by name:
 *
 *	ocf.stdout, ocf.stderr	what the command prints, unchanged
 *	ocf.status		one line an event: "up" before our modules are
 *				loaded, "start", "beat" every two seconds while
 *				the command runs, "exit N" at its end, "fail
 *				WHY" when it could not be run
 *
 * The host takes silence, a missing "exit" or a reboot for a failure, so
 * nothing here needs to be careful about how it dies.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONF_MAX	(1 << 20)
#define LIST_MAX	4096
#define BEAT_MS		2000
#define DRAIN_MAX	(2 << 20)	/* bytes; a pipe holds a half of it */
#define NINEP		"trans=virtio,version=9p2000.L,cache=loose,msize=512000"

#ifndef MODULE_INIT_COMPRESSED_FILE
#define MODULE_INIT_COMPRESSED_FILE 4
#endif

static char conf[CONF_MAX];
static size_t conf_len;
static int status_fd = -1;

static void power_off(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	if (status_fd >= 0 && write(status_fd, line, n) == n)
		return;
	dprintf(2, "init: %s", line);
}

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *fmt, ...)
{
	char why[400];
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	say("fail %s: %s\n", why, strerror(err));
	power_off();
	abort();
}

/* The values of @key in the order they stand, NULL after the last. */
static const char *conf_next(const char *key, const char **pos)
{
	const char *p = *pos ? *pos : conf;
	size_t n = strlen(key);

	while (p < conf + conf_len) {
		const char *rec = p;

		p += strlen(p) + 1;
		if (!strncmp(rec, key, n) && rec[n] == '=') {
			*pos = p;
			return rec + n + 1;
		}
	}
	return NULL;
}

static const char *conf_get(const char *key)
{
	const char *pos = NULL;

	return conf_next(key, &pos);
}

static void read_conf(void)
{
	int fd = open("/run.conf", O_RDONLY);
	ssize_t n;

	if (fd < 0)
		fail("run.conf");
	n = read(fd, conf, sizeof(conf) - 1);
	if (n < 0)
		fail("run.conf");
	if (n == sizeof(conf) - 1) {
		errno = E2BIG;
		fail("run.conf");
	}
	conf_len = n;
	close(fd);
}

static void make_dirs(const char *path)
{
	char buf[4096], *p;

	snprintf(buf, sizeof(buf), "%s", path);
	for (p = buf + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(buf, 0755);
		*p = '/';
	}
	mkdir(buf, 0755);
}

static void do_mount(const char *src, const char *dir, const char *type,
		     unsigned long flags, const char *data)
{
	make_dirs(dir);
	if (mount(src, dir, type, flags, data))
		fail("mount %s on %s", src, dir);
}

/* "PATH [PARAMETERS]" */
static void load_module(const char *spec)
{
	char path[4096];
	const char *params = strchr(spec, ' ');
	size_t n = params ? (size_t)(params - spec) : strlen(spec);
	bool packed;
	int fd;

	if (n >= sizeof(path))
		n = sizeof(path) - 1;
	memcpy(path, spec, n);
	path[n] = 0;
	packed = n > 3 && strcmp(path + n - 3, ".ko");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("open %s", path);
	if (syscall(SYS_finit_module, fd, params ? params + 1 : "",
		    packed ? MODULE_INIT_COMPRESSED_FILE : 0) &&
	    errno != EEXIST)
		fail("insmod %s", path);
	close(fd);
}

static void load_modules(const char *key)
{
	const char *pos = NULL, *spec;

	while ((spec = conf_next(key, &pos)))
		load_module(spec);
}

/* A port whose name, in sysfs, is @name; opened, or -1. */
static int try_port(const char *dev, const char *name)
{
	char path[300], have[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", dev);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = read(fd, have, sizeof(have) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	have[n] = 0;
	have[strcspn(have, "\n")] = 0;
	if (strcmp(have, name))
		return -1;
	snprintf(path, sizeof(path), "/dev/%s", dev);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Ports appear when the virtio-serial device has told their names. */
static int open_port(const char *name)
{
	struct dirent *e;
	int try, fd = -1;
	DIR *dir;

	for (try = 0; fd < 0 && try < 30000; try++) {
		dir = opendir("/sys/class/virtio-ports");
		while (dir && fd < 0 && (e = readdir(dir)))
			if (e->d_name[0] != '.')
				fd = try_port(e->d_name, name);
		if (dir)
			closedir(dir);
		if (fd < 0)
			usleep(1000);
	}
	if (fd < 0)
		fail("port %s", name);
	return fd;
}

/*
 * Mounts an overlay: the host's tree below, a tmpfs above; the checkout is
 * shared.  The kernel's threads share PID 1's root, so chroot() moves them,
 * too, and the modprobe that they start runs in the new tree.
 */
static void enter_host_tree(void)
{
	const char *pos = NULL, *share;
	char dir[4096], tag[16];
	int i = 0;

	do_mount("tmpfs", "/mem", "tmpfs", 0, "mode=755");
	do_mount("host", "/host", "9p", MS_RDONLY, NINEP);
	make_dirs("/mem/upper");
	make_dirs("/mem/work");
	do_mount("overlay", "/root", "overlay", 0,
		 "lowerdir=/host,upperdir=/mem/upper,workdir=/mem/work");
	do_mount("proc", "/root/proc", "proc", 0, NULL);
	do_mount("sysfs", "/root/sys", "sysfs", 0, NULL);
	do_mount("debugfs", "/root/sys/kernel/debug", "debugfs", 0, NULL);
	do_mount("tracefs", "/root/sys/kernel/tracing", "tracefs", 0, NULL);
	do_mount("dev", "/root/dev", "devtmpfs", 0, NULL);
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/dev/stderr"))
		fail("links in /dev");
	do_mount("devpts", "/root/dev/pts", "devpts", 0, NULL);
	do_mount("shm", "/root/dev/shm", "tmpfs", 0, NULL);
	do_mount("run", "/root/run", "tmpfs", 0, NULL);
	do_mount("tmp", "/root/tmp", "tmpfs", 0, "mode=1777");
	while ((share = conf_next("share", &pos))) {
		snprintf(dir, sizeof(dir), "/root%s", share);
		snprintf(tag, sizeof(tag), "share%d", i++);
		do_mount(tag, dir, "9p", 0, NINEP);
	}
	/*
	 * Move the mount to "/" first: after chroot() alone,
	 * unshare(CLONE_NEWUSER) would fail with EPERM.
	 */
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		fail("chroot");
}

/*
 * Lines of these files are run at each start of Python.  The tests do not need
 * what the host's packages put there, and it takes a second under emulation.
 */
static void hide_python_hooks(void)
{
	glob_t found = { 0 };
	size_t i;

	glob("/usr/lib/python3/dist-packages/*.pth", 0, NULL, &found);
	glob("/usr/local/lib/python3*/dist-packages/*.pth", GLOB_APPEND, NULL,
	     &found);
	for (i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

/* "FROM TO", in the new root: FROM is in a share */
static void bind_modules(void)
{
	const char *spec = conf_get("bind"), *to;
	char from[4096];

	if (!spec)
		return;
	to = strchr(spec, ' ');
	snprintf(from, sizeof(from), "%.*s", (int)(to - spec), spec);
	do_mount(from, to + 1, NULL, MS_BIND, NULL);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("write %s", path);
	close(fd);
}

/*
 * The list also has every module that the project's modules may request.  So
 * modprobe is off meanwhile: a hundred runs of it with nothing to do are slow
 * under emulation.
 */
static void load_project(void)
{
	write_file("/proc/sys/kernel/modprobe", "\n");
	load_modules("insmod");
	write_file("/proc/sys/kernel/modprobe", "/sbin/modprobe\n");
}

static void loopback_up(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (fd < 0)
		return;
	ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
}

/* All values of @key and a NULL after them. */
static void conf_list(const char *key, char *list[LIST_MAX])
{
	const char *pos = NULL, *v;
	int n = 0;

	while ((v = conf_next(key, &pos))) {
		if (n == LIST_MAX - 1) {
			errno = E2BIG;
			fail("%s", key);
		}
		list[n++] = (char *)v;
	}
	list[n] = NULL;
}

static pid_t start_command(const int out[2], const int err[2])
{
	char *argv[LIST_MAX], *envp[LIST_MAX];
	const char *v;
	pid_t pid;
	int null;

	conf_list("arg", argv);
	conf_list("env", envp);
	pid = fork();
	if (pid)
		return pid;
	setsid();
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(out[1], 1);
	dup2(err[1], 2);
	v = conf_get("cwd");
	if (v && chdir(v))
		dprintf(2, "cd %s: %s\n", v, strerror(errno));
	environ = envp;
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Copies what is there; returns how much, or -1 at the end of the stream. */
static ssize_t relay(int from, int to)
{
	char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf)), done = 0, w;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -1;
	while (done < n) {
		w = write(to, buf + done, n - done);
		if (w < 0 && errno != EINTR)
			return -1;
		if (w > 0)
			done += w;
	}
	return n ?: -1;
}

/* Runs the command, passes its output on; returns its exit status. */
static int run_command(bool beat)
{
	int port[2] = { open_port("ocf.stdout"), open_port("ocf.stderr") };
	int out[2], err[2], st = 0, code = -1;
	struct pollfd fds[2];
	struct timespec last, now;
	ssize_t n, left = DRAIN_MAX;
	pid_t pid, p;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("pipe");
	pid = start_command(out, err);
	if (pid < 0)
		fail("fork");
	close(out[1]);
	close(err[1]);
	fds[0] = (struct pollfd){ .fd = out[0], .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = err[0], .events = POLLIN };
	clock_gettime(CLOCK_MONOTONIC, &last);
	while (code < 0 || fds[0].fd >= 0 || fds[1].fd >= 0) {
		/*
		 * A daemon that the command left behind may hold the pipes
		 * open, or print for ever.  So once the command has ended, they
		 * are read until nothing comes, or more than pipes can hold.
		 */
		if (!poll(fds, 2, code < 0 ? BEAT_MS / 8 : 50) && code >= 0)
			break;
		for (int i = 0; i < 2; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			n = relay(fds[i].fd, port[i]);
			if (n < 0)
				fds[i].fd = -1;
			else if (code >= 0)
				left -= n;
		}
		if (left < 0)
			break;
		while ((p = waitpid(-1, &st, WNOHANG)) > 0)
			if (p == pid)
				code = WIFEXITED(st) ? WEXITSTATUS(st) :
						       128 + WTERMSIG(st);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (beat && now.tv_sec - last.tv_sec >= BEAT_MS / 1000) {
			say("beat\n");
			last = now;
		}
	}
	return code;
}

static void unmount_shares(void)
{
	const char *pos = NULL, *share;

	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	sync();
	while ((share = conf_next("share", &pos)))
		umount2(share, MNT_DETACH);
}

int main(void)
{
	int code;

	do_mount("proc", "/proc", "proc", 0, NULL);
	do_mount("sysfs", "/sys", "sysfs", 0, NULL);
	do_mount("dev", "/dev", "devtmpfs", 0, NULL);
	read_conf();
	status_fd = open_port("ocf.status");
	if (conf_get("probe")) {
		say("exit 0\n");
		power_off();
	}
	load_modules("early");
	enter_host_tree();
	hide_python_hooks();
	bind_modules();
	loopback_up();
	/* from here on it may be the project's fault */
	say("up\n");
	load_project();
	say("start\n");
	code = run_command(!conf_get("nobeat"));
	unmount_shares();
	say("exit %d\n", code);
	power_off();
}
