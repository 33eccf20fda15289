// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card's knobs: the options of "add", and the card's files in sysfs.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sim.h"

#define FAULTS_MAX	1000000
#define MS_MAX		60000
#define MS_DEFAULT	100
#define WHITE		"\n "
#define SEPARATORS	"\n :"

static const struct {
	const char *name;
	u32 min, max, def;
} knobs[SIM_KNOBS] = {
	[SIM_ENGINES]	= { "engines", 1, SIM_ENGINES_MAX, 1 },
	[SIM_OVERHEAD]	= { "overhead_ns", 0, NSEC_PER_SEC, 2000 },
	[SIM_PER_BYTE]	= { "ps_per_byte", 0, 10000000, 1000 },
	[SIM_LATENCY]	= { "latency_ns", 0, NSEC_PER_SEC, 10000 },
	[SIM_INTERVAL]	= { "interval_ns", 0, NSEC_PER_SEC, 0 },
	[SIM_DEPTH]	= { "depth", 1, OCF_DEPTH_MAX, 64 },
	[SIM_CONTEXTS]	= { "contexts", 1, 1000000, 1000000 },
	[SIM_CONTEXT]	= { "context_ns", 0, NSEC_PER_SEC, 0 },
	[SIM_SLOW]	= { "slow", 1, 100000, 100 },
	[SIM_PUBLIC]	= { "public_ns", 1000, NSEC_PER_SEC, NSEC_PER_MSEC },
	[SIM_COMPUTE]	= { "compute", 0, 1, 1 },
};

static const char * const fault_names[SIM_FAULTS] = {
	[SIM_BUSY]	= "busy",
	[SIM_ERROR]	= "error",
	[SIM_WRONG]	= "wrong",
	[SIM_TAG]	= "tag",
	[SIM_LOST]	= "lost",
	[SIM_LATE]	= "late",
	[SIM_DOUBLE]	= "double",
	[SIM_STALL]	= "stall",
	[SIM_DEATH]	= "death",
	[SIM_REFUSE]	= "refuse",
};

static const char * const alg_names[] = {
	[SIM_ALGS_ALL]	= "all",
	[SIM_ALGS_NULL]	= "null",
	[SIM_ALGS_REAL]	= "real",
};

/* ---- text ---- */

/**
 * sim_number() - read a number within limits
 * @text: the text
 * @min: the smallest number allowed
 * @max: the largest
 * @value: is set to the number
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int sim_number(const char *text, u32 min, u32 max, u32 *value)
{
	u32 n;
	int err = kstrtou32(text, 0, &n);

	if (err)
		return err == -ERANGE ? -EINVAL : err;
	if (n < min || n > max)
		return -EINVAL;
	*value = n;
	return 0;
}

/* The next word of @text, or NULL */
static char *word(char **text)
{
	char *w;

	do {
		w = strsep(text, SEPARATORS);
	} while (w && !*w);
	return w;
}

/*
 * "NAME COUNT [AFTER [MS]]", or "none".  Returns the fault, and fills in @t.
 * Returns SIM_FAULTS for "none", which means all faults, or a negative errno.
 */
static int parse_fault(char *text, struct sim_trouble *t)
{
	char *name = word(&text), *w;
	u32 *field[] = { &t->count, &t->after, &t->ms };
	static const u32 most[] = { FAULTS_MAX, FAULTS_MAX, MS_MAX };
	int fault, err, i;

	*t = (struct sim_trouble){ .ms = MS_DEFAULT };
	if (!name)
		return -EINVAL;
	if (!strcmp(name, "none"))
		return word(&text) ? -EINVAL : SIM_FAULTS;
	fault = match_string(fault_names, SIM_FAULTS, name);
	if (fault < 0)
		return fault;
	for (i = 0; (w = word(&text)); i++) {
		if (i == ARRAY_SIZE(field))
			return -EINVAL;
		err = sim_number(w, 0, most[i], field[i]);
		if (err)
			return err;
	}
	return i ? fault : -EINVAL;
}

/* Reads an option "NAME=VALUE" into @c. */
static int parse_option(struct sim_config *c, char *name)
{
	struct sim_trouble t;
	char *value = strchr(name, '=');
	int i, err;
	u32 n;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	for (i = 0; i < SIM_KNOBS; i++)
		if (!strcmp(name, knobs[i].name))
			return sim_number(value, knobs[i].min, knobs[i].max,
					  &c->knob[i]);
	if (!strcmp(name, "algs")) {
		i = match_string(alg_names, ARRAY_SIZE(alg_names), value);
		if (i >= 0)
			c->algs = i;
		return min(i, 0);
	}
	if (!strcmp(name, "patience"))
		return sim_number(value, 0, MS_MAX, &c->patience);
	if (!strcmp(name, "bounce")) {
		err = sim_number(value, 0, 1, &n);
		c->bounce = !err && n;
		return err;
	}
	if (!strcmp(name, "public_key")) {
		err = sim_number(value, 0, 1, &n);
		c->public_key = !err && n;
		return err;
	}
	if (strcmp(name, "fault"))
		return -EINVAL;
	i = parse_fault(value, &t);
	if (i == SIM_FAULTS)
		return -EINVAL;
	if (i >= 0)
		c->trouble[i] = t;
	return min(i, 0);
}

/**
 * sim_config_init() - set the defaults of a card
 * @config: is filled in
 *
 * Context: any.
 */
void sim_config_init(struct sim_config *config)
{
	int i;

	*config = (struct sim_config){};
	for (i = 0; i < SIM_KNOBS; i++)
		config->knob[i] = knobs[i].def;
}

/**
 * sim_config_parse() - read the options of a card
 * @config: is changed
 * @text: options "NAME=VALUE", separated by spaces; this modifies it
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int sim_config_parse(struct sim_config *config, char *text)
{
	char *option;
	int err = 0;

	while (!err && (option = strsep(&text, WHITE)))
		if (*option)
			err = parse_option(config, option);
	return err;
}

/* ---- knobs ---- */

/* A file of sysfs, and its knob */
struct sim_file {
	struct device_attribute	attr;
	int			which;
};

#define FILE(_name, _mode, _kind, _which, _store) \
	static struct sim_file file_##_name = { \
		__ATTR(_name, _mode, _kind##_show, _store), _which }
#define KNOB(_name, _which) \
	FILE(_name, 0644, knob, _which, knob_store)
#define COUNTER(_name, _which) \
	FILE(_name, 0440, counter, _which, NULL)

static int which(struct device_attribute *attr)
{
	return container_of(attr, struct sim_file, attr)->which;
}

static ssize_t knob_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  sim_card_of(dev)->config.knob[which(attr)]);
}

static ssize_t knob_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t n)
{
	struct sim_card *card = sim_card_of(dev);
	int k = which(attr), err;
	u32 value;

	/* the ring cannot become deeper */
	err = sim_number(buf, knobs[k].min,
			 k == SIM_DEPTH ? card->nslots : knobs[k].max, &value);
	if (err)
		return err;
	WRITE_ONCE(card->config.knob[k], value);
	return n;
}

KNOB(engines, SIM_ENGINES);
KNOB(overhead_ns, SIM_OVERHEAD);
KNOB(ps_per_byte, SIM_PER_BYTE);
KNOB(latency_ns, SIM_LATENCY);
KNOB(interval_ns, SIM_INTERVAL);
KNOB(depth, SIM_DEPTH);
KNOB(contexts, SIM_CONTEXTS);
KNOB(context_ns, SIM_CONTEXT);
KNOB(slow, SIM_SLOW);
KNOB(public_ns, SIM_PUBLIC);
KNOB(compute, SIM_COMPUTE);

/* ---- counters ---- */

static ssize_t counter_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct sim_card *card = sim_card_of(dev);
	u64 n;

	spin_lock_bh(&card->lock);
	n = card->count[which(attr)];
	spin_unlock_bh(&card->lock);
	return sysfs_emit(buf, "%llu\n", n);
}

COUNTER(submitted, SIM_SUBMITTED);
COUNTER(completed, SIM_COMPLETED);
COUNTER(interrupts, SIM_INTERRUPTS);
COUNTER(refused, SIM_REFUSED);
COUNTER(detached, SIM_DETACHED);
COUNTER(answered_late, SIM_ANSWERED_LATE);
COUNTER(spurious, SIM_SPURIOUS);
COUNTER(quiesces, SIM_QUIESCES);
COUNTER(resets, SIM_RESETS);

static ssize_t inside_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct sim_card *card = sim_card_of(dev);

	return sysfs_emit(buf, "%u\n", card->nslots - READ_ONCE(card->nfree));
}
static OCF_ATTR_PRIVATE(inside);

static ssize_t contexts_used_show(struct device *dev,
				  struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n",
			  atomic_read(&sim_card_of(dev)->contexts));
}
static OCF_ATTR_PRIVATE(contexts_used);

/* ---- options that are fixed when a card is made ---- */

static ssize_t bounce_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%d\n", sim_card_of(dev)->config.bounce);
}
static DEVICE_ATTR_RO(bounce);

static ssize_t public_key_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", sim_card_of(dev)->config.public_key);
}
static DEVICE_ATTR_RO(public_key);

static ssize_t algs_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  alg_names[sim_card_of(dev)->config.algs]);
}
static DEVICE_ATTR_RO(algs);

static ssize_t patience_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%u\n", sim_card_of(dev)->config.patience);
}
static DEVICE_ATTR_RO(patience);

/* ---- faults ---- */

static ssize_t fault_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct sim_card *card = sim_card_of(dev);
	const struct sim_trouble *t;
	int i, n = 0;

	spin_lock_bh(&card->lock);
	for (i = 0; i < SIM_FAULTS; i++) {
		t = &card->config.trouble[i];
		if (card->armed & BIT(i))
			n += sysfs_emit_at(buf, n, "%s %u %u %u\n",
					   fault_names[i], t->count, t->after,
					   t->ms);
	}
	spin_unlock_bh(&card->lock);
	return n ?: sysfs_emit(buf, "none\n");
}

static ssize_t fault_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t n)
{
	struct sim_card *card = sim_card_of(dev);
	struct sim_trouble t;
	char text[64];
	int fault;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	fault = parse_fault(text, &t);
	if (fault < 0)
		return fault;
	spin_lock_bh(&card->lock);
	if (fault == SIM_FAULTS) {
		card->armed = 0;
	} else {
		card->config.trouble[fault] = t;
		card->armed &= ~BIT(fault);
		card->armed |= t.count ? BIT(fault) : 0;
	}
	spin_unlock_bh(&card->lock);
	return n;
}
static DEVICE_ATTR_RW(fault);

static ssize_t hold_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(sim_card_of(dev)->held));
}

static ssize_t hold_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t n)
{
	bool held;
	int err = kstrtobool(buf, &held);

	if (err)
		return err;
	sim_hold(sim_card_of(dev), held);
	return n;
}
static DEVICE_ATTR_RW(hold);

static struct attribute *sim_attrs[] = {
	&file_engines.attr.attr,
	&file_overhead_ns.attr.attr,
	&file_ps_per_byte.attr.attr,
	&file_latency_ns.attr.attr,
	&file_interval_ns.attr.attr,
	&file_depth.attr.attr,
	&file_contexts.attr.attr,
	&file_context_ns.attr.attr,
	&file_slow.attr.attr,
	&file_public_ns.attr.attr,
	&file_compute.attr.attr,
	&file_submitted.attr.attr,
	&file_completed.attr.attr,
	&file_interrupts.attr.attr,
	&file_refused.attr.attr,
	&file_detached.attr.attr,
	&file_answered_late.attr.attr,
	&file_spurious.attr.attr,
	&file_quiesces.attr.attr,
	&file_resets.attr.attr,
	&dev_attr_inside.attr,
	&dev_attr_contexts_used.attr,
	&dev_attr_bounce.attr,
	&dev_attr_public_key.attr,
	&dev_attr_algs.attr,
	&dev_attr_patience.attr,
	&dev_attr_fault.attr,
	&dev_attr_hold.attr,
	NULL
};

static const struct attribute_group sim_group = { .attrs = sim_attrs };
const struct attribute_group *sim_groups[] = { &sim_group, NULL };
