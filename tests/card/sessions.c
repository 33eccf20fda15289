// SPDX-License-Identifier: BSD-2-Clause
/* Sessions by id.  An id consists of a place and the number of its uses. */
#include "card.h"

static struct {
	struct card_session *session;
	uint64_t turn;
} places[CARD_MAX_SESSIONS];

static size_t count;

int64_t card_sessions_add(struct card_session *session, size_t most)
{
	size_t i;

	for (i = 0; i < CARD_MAX_SESSIONS && count < most; i++) {
		if (places[i].session)
			continue;
		places[i].session = session;
		count++;
		return places[i].turn * CARD_MAX_SESSIONS + i;
	}
	return -1;
}

struct card_session *card_sessions_find(uint64_t id)
{
	size_t i = id % CARD_MAX_SESSIONS;

	return places[i].turn == id / CARD_MAX_SESSIONS ? places[i].session
							: NULL;
}

bool card_sessions_drop(uint64_t id)
{
	struct card_session *session = card_sessions_find(id);
	size_t i = id % CARD_MAX_SESSIONS;

	if (!session)
		return false;
	card_session_free(session);
	places[i].session = NULL;
	places[i].turn++;
	count--;
	return true;
}

void card_sessions_forget(void)
{
	size_t i;

	for (i = 0; i < CARD_MAX_SESSIONS; i++)
		card_sessions_drop(places[i].turn * CARD_MAX_SESSIONS + i);
}

size_t card_sessions_count(void)
{
	return count;
}
