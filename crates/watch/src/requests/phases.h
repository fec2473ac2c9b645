/* The phases of a request (the paper's section 4.2), as what happens on its connection tells them.
 *
 * Which part of a response is its last is known only afterwards, so what follows a part is logging until
 * there is another one. Whether what is received then belongs to the next request, a server's own probe says;
 * without such a probe, it does. */
#ifndef HEADWORKS_REQUESTS_PHASES_H
#define HEADWORKS_REQUESTS_PHASES_H

#include "stopwatch.h"

/* An interim response, such as `100 Continue`, has no more. */
#define MAX_INTERIM 64

static u64 later(u64 one, u64 other)
{
	return one > other ? one : other;
}

static bool is_open(u64 now)
{
	return now >= opens && now < closes;
}

static void begin(struct connection *connection, u64 began, u64 read, u64 received, u64 flags)
{
	__builtin_memset(connection->request.used, 0, 3 * sizeof(struct usage));
	connection->request.flags = flags;
	connection->request.began = began;
	connection->request.read = read;
	connection->request.parsed = 0;
	connection->request.sent = 0;
	connection->request.ended = 0;
	connection->request.bytes_received = received;
	connection->request.bytes_sent = 0;
	connection->state = PARSING;
}

/* Tells the request as it is. */
static void tell(struct connection *connection)
{
	struct http_request *told = bpf_ringbuf_reserve(&ring, sizeof(*told), 0);

	if (!told) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	__builtin_memcpy(told, &connection->request, sizeof(*told));
	bpf_ringbuf_submit(told, BPF_RB_NO_WAKEUP);
}

/* The request is over; `now` is when, if nothing has said so before. Others may see that at the same time. */
static void finish(struct connection *connection, u64 now)
{
	u64 state;

	if (connection->state >= PARTS)
		return;
	state = __sync_lock_test_and_set(&connection->state, IDLE);
	if (state >= PARTS)
		return;
	if (state == RECEIVED_MORE)
		add(&connection->request.used[SENT], &connection->next_used);
	if (!connection->request.ended)
		connection->request.ended = now;
	tell(connection);
}

/* When the thread was ready for something else: as it began to sleep in wait of it, which is known, or, if it
 * never did after the last part of the response, as it called the kernel for something else. */
static void ready(struct thread *thread, struct connection *connection)
{
	if (connection->state == SENT && !connection->request.ended)
		connection->request.ended = thread->entered;
}

/* The thread sleeps until somebody does something: who has sent all is ready, but not who waits for the
 * client to close as well. */
static void sleeps(struct thread *thread)
{
	struct connection *connection = current_of(thread);

	if (connection && connection->state == SENT && (!connection->is_closing || thread->call & CALL_JOINS))
		connection->request.ended = thread->entered;
}

/* The thread turns away from its connection. */
static void leave(struct thread *thread, u64 now)
{
	struct connection *connection = current_of(thread);

	if (connection) {
		charge(thread, connection, now);
		ready(thread, connection);
		if (connection->is_closing && connection->state >= SENT)
			finish(connection, now);
	}
	/* What was used after a connection had ended, to close it mostly, is left for the next request:
	 * no request is told later for that, and nothing is lost. */
	thread->connection = 0;
}

/* The thread turns to a connection. */
static void turn_to(struct thread *thread, u64 key, struct connection *connection, u64 now)
{
	struct connection *before;

	if (thread->connection == key && thread->serial == connection->serial)
		return;
	before = current_of(thread);
	if (before && before->state == SENT && !before->is_closing && thread->call & CALL_WAITS)
		/* It was charged as the thread entered the call, which is for the next one. */
		ready(thread, before);
	else if (thread->connection)
		leave(thread, now);
	thread->connection = key;
	thread->serial = connection->serial;
}

/* What was received was the next request. */
static void promote(struct connection *connection)
{
	struct usage used = connection->next_used;

	__builtin_memset(&connection->next_used, 0, sizeof(used));
	connection->state = SENT;
	finish(connection, connection->next_read);
	if (!is_open(connection->next_read)) {
		connection->state = IGNORED;
		return;
	}
	begin(connection, connection->next_began, connection->next_read, connection->next_received,
	      connection->next_flags);
	connection->request.used[PARSING] = used;
}

/* The header of a request has been parsed. */
static void parsed(struct thread *thread, struct connection *connection, u64 now)
{
	charge(thread, connection, now);
	if (!connection->is_probed) {
		/* It was first seen before the server was known. */
		connection->is_probed = 1;
		if (connection->state == PROCESSING) {
			add(&connection->request.used[PARSING], &connection->request.used[PROCESSING]);
			connection->request.parsed = now;
		}
		return;
	}
	if (connection->state == RECEIVED_MORE) {
		promote(connection);
	} else if (connection->state == PROCESSING || connection->state == SENT) {
		/* It lay in the server's memory already. */
		connection->request.ended = now;
		finish(connection, now);
		if (is_open(now))
			begin(connection, now, now, 0, 0);
	}
	if (connection->state == PARSING) {
		connection->request.parsed = now;
		connection->request.sent = 0;
		connection->request.bytes_sent = 0;
		connection->state = PROCESSING;
	}
}

static void received(struct thread *thread, struct connection *connection, u64 bytes, u64 now)
{
	/* It could not be read before. */
	u64 began = later(connection->arrived ?: now,
			  later(connection->request.accepted, connection->request.ended));
	u64 flags = connection->arrived ? 0 : FLAG_UNSEEN;

	connection->arrived = 0;
	switch (connection->state) {
	case FRESH:
		flags |= FLAG_FIRST;
		/* fallthrough */
	case IDLE:
		if (is_open(now))
			begin(connection, began, now, bytes, flags);
		else
			connection->state = IGNORED;
		break;
	case SENT:
		ready(thread, connection);
		connection->next_began = later(began, connection->request.ended);
		connection->next_read = now;
		connection->next_received = bytes;
		connection->next_flags = flags;
		/* What was used for the one before was charged as the thread called the kernel for more. */
		connection->state = RECEIVED_MORE;
		break;
	case RECEIVED_MORE:
		connection->next_received += bytes;
		break;
	case PARSING:
	case PROCESSING:
		connection->request.bytes_received += bytes;
	}
	charge(thread, connection, now);
	if (connection->is_probed)
		return;
	if (connection->state == RECEIVED_MORE)
		promote(connection);
	if (connection->state > PROCESSING)
		return;
	/* There is no sign of when it has been parsed; as long as there is more to read, it has not. */
	add(&connection->request.used[PARSING], &connection->request.used[PROCESSING]);
	connection->request.parsed = now;
	connection->state = PROCESSING;
}

static void sent(struct thread *thread, struct connection *connection, u64 bytes, u64 now)
{
	charge(thread, connection, now);
	if (connection->state == IGNORED)
		connection->state = IDLE;
	if (connection->state >= PARTS)
		return;
	if (connection->state == RECEIVED_MORE && connection->request.bytes_sent > MAX_INTERIM)
		/* A request that the server cannot parse. */
		promote(connection);
	if (connection->state == RECEIVED_MORE) {
		/* It was more of the same request. */
		add(&connection->request.used[SENT], &connection->next_used);
		connection->request.bytes_received += connection->next_received;
		connection->state = SENT;
	}
	if (connection->state == SENT) {
		if (connection->request.ended && now - connection->request.ended > longest_pause)
			longest_pause = now - connection->request.ended;
		add(&connection->request.used[PROCESSING], &connection->request.used[SENT]);
	} else if (connection->state == PROCESSING) {
		connection->state = SENT;
	}
	/* Else it is a handshake, or what answers a request that cannot be parsed. */
	connection->request.ended = 0;
	connection->request.sent = now;
	connection->request.bytes_sent += bytes;
}

#endif
