// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues: by io_uring, whose entries are commands, or by OCF_SUBMIT and
 * OCF_REAP.
 *
 * A queue is in memory that is zeroed in a child of its process, so that the
 * child does not touch a ring that it shares with its parent.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "crypt.h"
#include "ocf/queue.h"

#define FLAGS	(OCF_QUEUE_ONE_THREAD | OCF_QUEUE_NO_URING | OCF_QUEUE_URING)
#define BUFFERS_MAX	1024

_Static_assert(sizeof(struct ocf_command) == 80, "an entry has no more room");

/**
 * struct ocf_queue - a queue
 * @ocf: the handle; NULL in a child of the process that made the queue
 * @depth: commands under way at a time
 * @count: commands whose results have not been taken
 * @uring: it uses io_uring
 * @ring: its ring
 * @puts: commands that were not begun: in the ring, or in @waiting
 * @waiting: commands
 * @refused: results of commands that the kernel refused
 * @refusals: number of results in @refused
 * @buffers: a copy of the registered buffers
 * @nbuffers: number of registered buffers
 * @told: an eventfd for @refused, or -1
 * @both: readable for @told and for the kernel's results, or -1
 * @dev: device number of the inode that all descriptors of the queue have
 * @ino: number of that inode
 */
struct ocf_queue {
	struct ocf		*ocf;
	unsigned int		depth;
	unsigned int		count;
	bool			uring;
	struct io_uring		ring;
	unsigned int		puts;
	struct ocf_command	*waiting;
	struct ocf_result	*refused;
	unsigned int		refusals;
	struct iovec		*buffers;
	unsigned int		nbuffers;
	int			told;
	int			both;
	dev_t			dev;
	ino_t			ino;
};

/*
 * Whether @fd is still one of the queue's descriptors.  A program may close
 * descriptors that it does not know, and open other files with their numbers.
 * Rings, eventfds and epolls all have the same inode.  So remember() also sets
 * the signal for input, which is never sent for a file without O_ASYNC.  Few
 * programs set this signal, so it marks a descriptor as ours.
 */
static bool is_own(const struct ocf_queue *q, int fd)
{
	return is_file(fd, q->dev, q->ino) && fcntl(fd, F_GETSIG) == SIGRTMAX;
}

static int remember(struct ocf_queue *q, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || fcntl(fd, F_SETSIG, SIGRTMAX))
		return -errno;
	q->dev = st.st_dev;
	q->ino = st.st_ino;
	return 0;
}

/* ---- by io_uring ---- */

static int ring_open(struct ocf_queue *q, unsigned int flags)
{
	unsigned int setup = IORING_SETUP_SQE128;
	int err;

	if (flags & OCF_QUEUE_ONE_THREAD)
		setup |= IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_TASKRUN_FLAG;
	err = io_uring_queue_init(q->depth, &q->ring, setup);
	if (err)
		return err;
	/* otherwise a child would write where the parent reads */
	io_uring_ring_dontfork(&q->ring);
	q->uring = true;
	return remember(q, q->ring.ring_fd);
}

static int ring_put(struct ocf_queue *q, const struct ocf_command *c,
		    int buffer)
{
	/* the ring has at least as many entries as the queue is deep */
	struct io_uring_sqe *sqe = io_uring_get_sqe(&q->ring);

	if (!sqe)
		return -EBUSY;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = q->ocf->fd;
	sqe->cmd_op = OCF_URING_COMMAND;
	sqe->user_data = c->cookie;
	if (buffer >= 0) {
		sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
		sqe->buf_index = buffer;
	}
	memcpy(sqe->cmd, c, sizeof(*c));
	return 0;
}

/*
 * Submits all entries; with @wait also waits for one result, in the same call.
 */
static int ring_submit(struct ocf_queue *q, bool wait)
{
	int n;

	if (wait && !is_own(q, q->ring.ring_fd))
		return -EBADF;
	while (q->puts) {
		n = wait ? io_uring_submit_and_wait(&q->ring, 1) :
			   io_uring_submit(&q->ring);
		/*
		 * the descriptor's number belongs to another ring of the
		 * program, which has no entries
		 */
		if (!n)
			return -EBADF;
		if (n < 0)
			return n;
		q->puts -= n;
		/*
		 * the call returns how many were submitted, and does not report
		 * a signal
		 */
		if (wait && !q->puts && !io_uring_cq_ready(&q->ring))
			return -EINTR;
	}
	return 0;
}

static unsigned int ring_take(struct ocf_queue *q, struct ocf_result *results,
			      unsigned int count)
{
	struct io_uring_cqe *cqe;
	unsigned int n;

	for (n = 0; n < count && !io_uring_peek_cqe(&q->ring, &cqe); n++) {
		results[n] = (struct ocf_result){
			.cookie = cqe->user_data, .res = cqe->res,
		};
		io_uring_cqe_seen(&q->ring, cqe);
	}
	return n;
}

static int ring_wait(struct ocf_queue *q, int timeout)
{
	struct __kernel_timespec ts = {
		.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000,
	};
	struct io_uring_cqe *cqe;
	int err;

	if (!is_own(q, q->ring.ring_fd))
		return -EBADF;
	if (timeout < 0)
		err = io_uring_wait_cqe(&q->ring, &cqe);
	else
		err = io_uring_wait_cqe_timeout(&q->ring, &cqe, &ts);
	return err == -ETIME ? 0 : err;
}

/* ---- by ioctl() ---- */

static void close_one(struct ocf_queue *q, int fd)
{
	if (is_own(q, fd))
		close(fd);
}

static void calls_close(struct ocf_queue *q)
{
	close_one(q, q->told);
	close_one(q, q->both);
	free(q->waiting);
	free(q->refused);
	atomic_store(&q->ocf->reaper, 0);
}

/* One descriptor for poll(): for results, and for commands that were refused */
static int tell_of_both(struct ocf_queue *q)
{
	struct epoll_event in = { .events = EPOLLIN };

	q->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->both = epoll_create1(EPOLL_CLOEXEC);
	if (q->told < 0 || q->both < 0 ||
	    epoll_ctl(q->both, EPOLL_CTL_ADD, q->told, &in) ||
	    epoll_ctl(q->both, EPOLL_CTL_ADD, q->ocf->fd, &in))
		return -errno;
	return remember(q, q->told) ?: remember(q, q->both);
}

static int calls_open(struct ocf_queue *q)
{
	pid_t was = atomic_load(&q->ocf->reaper), me = getpid();
	int err;

	/*
	 * OCF_REAP returns the results of the whole process, so only one queue
	 * may use it
	 */
	if (was == me ||
	    !atomic_compare_exchange_strong(&q->ocf->reaper, &was, me))
		return -EBUSY;
	err = tell_of_both(q);
	q->waiting = calloc(q->depth, sizeof(*q->waiting));
	q->refused = calloc(q->depth, sizeof(*q->refused));
	if (!err && q->waiting && q->refused)
		return 0;
	calls_close(q);
	return err ? err : -ENOMEM;
}

/*
 * OCF_SUBMIT has no registered buffers, so the flags that select them are
 * cleared, and the addresses count.
 */
static int calls_put(struct ocf_queue *q, const struct ocf_command *c)
{
	q->waiting[q->puts] = *c;
	if (c->op != OCF_OP_PUBLIC_KEY)
		q->waiting[q->puts].flags &= ~(OCF_COMMAND_FIXED_SRC |
					       OCF_COMMAND_FIXED_DST);
	return 0;
}

static void refuse(struct ocf_queue *q, const struct ocf_command *c, int err)
{
	if (is_own(q, q->told))
		eventfd_write(q->told, 1);
	q->refused[q->refusals++] = (struct ocf_result){
		.cookie = c->cookie, .res = err,
	};
}

static int calls_submit(struct ocf_queue *q)
{
	unsigned int i, n, most = q->ocf->features.vector_max;
	int res, err = 0;

	for (i = 0; i < q->puts; i += res) {
		struct ocf_vector v = { .commands = addr(q->waiting + i) };

		n = q->puts - i < most ? q->puts - i : most;
		v.count = n;
		res = call(q->ocf, OCF_SUBMIT, &v);
		if (res == -EINTR) {
			err = res;
			break;
		}
		if (res < 0) {
			refuse(q, q->waiting + i, res);
			res = 1;
		}
	}
	q->puts -= i;
	memmove(q->waiting, q->waiting + i, q->puts * sizeof(*q->waiting));
	return err;
}

static int calls_take(struct ocf_queue *q, struct ocf_result *results,
		      unsigned int count)
{
	unsigned int n = q->refusals < count ? q->refusals : count;
	struct ocf_reap reap = {
		.results = addr(results + n), .count = count - n,
	};
	int res;

	if (n)
		memcpy(results, q->refused, n * sizeof(*results));
	if (n && n == q->refusals && is_own(q, q->told))
		eventfd_read(q->told, &(eventfd_t){ 0 });
	q->refusals -= n;
	memmove(q->refused, q->refused + n,
		q->refusals * sizeof(*q->refused));
	if (n == count)
		return n;
	res = call(q->ocf, OCF_REAP, &reap);
	return res < 0 && !n ? res : (int)n + (res > 0 ? res : 0);
}

static int calls_wait(struct ocf_queue *q, int timeout)
{
	struct pollfd p = { .fd = q->both, .events = POLLIN };
	bool own = is_own(q, q->both);

	/*
	 * if the program has closed @both, the caller looks for results every
	 * millisecond
	 */
	return poll(&p, own, own ? timeout : 1) < 0 ? -errno : 0;
}

/* ---- both ---- */

static bool is_anothers(const struct ocf_queue *q)
{
	return !q->ocf;
}

static int choose_way(struct ocf_queue *q, unsigned int flags)
{
	int err = -ENOSYS;

	if (!(flags & OCF_QUEUE_NO_URING))
		err = ring_open(q, flags);
	if (err && !(flags & OCF_QUEUE_URING))
		err = calls_open(q);
	return err;
}

int ocf_queue_open(struct ocf *ocf, unsigned int depth, unsigned int flags,
		   struct ocf_queue **queue)
{
	struct ocf_queue *q;
	int err;

	forget_field();
	if (!depth || depth > OCF_QUEUE_DEPTH_MAX || flags & ~FLAGS ||
	    (flags & OCF_QUEUE_URING && flags & OCF_QUEUE_NO_URING))
		return -EINVAL;
	q = mmap(NULL, sizeof(*q), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q == MAP_FAILED)
		return -ENOMEM;
	if (madvise(q, sizeof(*q), MADV_WIPEONFORK)) {
		err = -errno;
		goto unmap;
	}
	q->ocf = ocf;
	q->depth = depth;
	q->told = q->both = -1;
	err = choose_way(q, flags);
	if (err)
		goto unmap;
	*queue = q;
	return 0;
unmap:
	munmap(q, sizeof(*q));
	return err;
}

/*
 * Waits for all commands.  They would write to the caller's memory even after
 * their ring has been closed.
 */
static void drain(struct ocf_queue *q)
{
	struct ocf_result results[64];
	int n;

	q->count -= q->puts;
	q->puts = 0;
	do
		n = ocf_queue_get(q, results, 64, -1);
	while (n > 0 || n == -EINTR);
}

void ocf_queue_close(struct ocf_queue *queue)
{
	if (!queue)
		return;
	/*
	 * If the program has closed the device, the commands are lost.  If it
	 * has closed a ring, the kernel has cancelled them.
	 */
	if (!is_anothers(queue) && ocf_is_open(queue->ocf)) {
		drain(queue);
		if (queue->uring && is_own(queue, queue->ring.ring_fd)) {
			/* a child may still have the ring */
			if (queue->nbuffers)
				io_uring_unregister_buffers(&queue->ring);
			io_uring_queue_exit(&queue->ring);
		} else if (!queue->uring) {
			calls_close(queue);
		}
		free(queue->buffers);
	}
	munmap(queue, sizeof(*queue));
}

int ocf_queue_is_uring(const struct ocf_queue *queue)
{
	return queue->uring;
}

int ocf_queue_register(struct ocf_queue *queue, const struct iovec *buffers,
		       unsigned int count)
{
	struct iovec *copy = NULL;
	int err = 0;

	forget_field();
	if (is_anothers(queue))
		return -EPERM;
	if (queue->count)
		return -EBUSY;
	if (count > BUFFERS_MAX)
		return -EINVAL;
	if (queue->uring && !is_own(queue, queue->ring.ring_fd))
		return -EBADF;
	if (count) {
		copy = malloc(count * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, buffers, count * sizeof(*copy));
	}
	if (queue->uring && queue->nbuffers)
		io_uring_unregister_buffers(&queue->ring);
	free(queue->buffers);
	queue->buffers = NULL;
	queue->nbuffers = 0;
	if (queue->uring && count)
		err = io_uring_register_buffers(&queue->ring, copy, count);
	if (err) {
		free(copy);
		return err;
	}
	queue->buffers = copy;
	queue->nbuffers = count;
	return 0;
}

static int put(struct ocf_queue *q, const struct ocf_command *c, int buffer)
{
	int err;

	if (is_anothers(q))
		return -EPERM;
	if (q->count == q->depth)
		return -EBUSY;
	err = q->uring ? ring_put(q, c, buffer) : calls_put(q, c);
	if (err)
		return err;
	q->puts++;
	q->count++;
	return 0;
}

int ocf_queue_put(struct ocf_queue *queue, const struct ocf_command *command)
{
	forget_field();
	return put(queue, command, -1);
}

static bool is_in(const struct iovec *buffer, uint64_t at)
{
	return at - addr(buffer->iov_base) < buffer->iov_len;
}

int ocf_queue_put_fixed(struct ocf_queue *queue,
			const struct ocf_command *command, unsigned int buffer)
{
	struct ocf_command c = *command;

	forget_field();
	if (is_anothers(queue))
		return -EPERM;
	if (buffer >= queue->nbuffers || c.op == OCF_OP_PUBLIC_KEY)
		return -EINVAL;
	if (is_in(&queue->buffers[buffer], c.src))
		c.flags |= OCF_COMMAND_FIXED_SRC;
	if (c.dst && is_in(&queue->buffers[buffer], c.dst))
		c.flags |= OCF_COMMAND_FIXED_DST;
	if (!(c.flags & (OCF_COMMAND_FIXED_SRC | OCF_COMMAND_FIXED_DST)))
		return -EINVAL;
	return put(queue, &c, buffer);
}

int ocf_queue_submit(struct ocf_queue *queue)
{
	forget_field();
	if (is_anothers(queue))
		return -EPERM;
	return queue->uring ? ring_submit(queue, false) : calls_submit(queue);
}

static int take(struct ocf_queue *q, struct ocf_result *results,
		unsigned int count)
{
	int n = q->uring ? (int)ring_take(q, results, count) :
			   calls_take(q, results, count);

	if (n > 0)
		q->count -= n;
	return n;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

int ocf_queue_get(struct ocf_queue *queue, struct ocf_result *results,
		  unsigned int count, int timeout)
{
	int64_t end = timeout > 0 ? now_ms() + timeout : 0;
	int n, err;

	forget_field();
	if (is_anothers(queue))
		return -EPERM;
	count = count < INT_MAX ? count : INT_MAX;
	err = queue->uring ? ring_submit(queue, timeout < 0) :
			     calls_submit(queue);
	if (err)
		return err;
	for (;;) {
		n = take(queue, results, count);
		if (n || !timeout || !count || !queue->count)
			return n;
		err = queue->uring ? ring_wait(queue, timeout) :
				     calls_wait(queue, timeout);
		if (err)
			return err;
		if (timeout > 0) {
			timeout = end - now_ms();
			timeout = timeout > 0 ? timeout : 0;
		}
	}
}

int ocf_queue_cancel(struct ocf_queue *queue, uint64_t cookie)
{
	int err;

	forget_field();
	if (is_anothers(queue))
		return -EPERM;
	err = ocf_queue_submit(queue);
	return err ? err : call(queue->ocf, OCF_CANCEL, &cookie);
}

int ocf_queue_fd(const struct ocf_queue *queue)
{
	int fd;

	if (is_anothers(queue))
		return -EPERM;
	fd = queue->uring ? queue->ring.ring_fd : queue->both;
	return is_own(queue, fd) ? fd : -EBADF;
}

unsigned int ocf_queue_count(const struct ocf_queue *queue)
{
	return queue->count;
}
