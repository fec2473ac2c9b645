/* The phases of a request (the paper's section 4.2), as what happens on its connection tells them.
 *
 * Which part of a response is its last is known only afterwards, so what follows a part is logging until
 * there is another one, and whether what is received then belongs to the next request a server's own probe
 * says, or nobody, and then it does. */
#ifndef HEADWORKS_REQUESTS_PHASES_H
#define HEADWORKS_REQUESTS_PHASES_H

#include "stopwatch.h"

static u64 later(u64 one, u64 other)
{
	return one > other ? one : other;
}

static void begin(struct connection *connection, u64 began, u64 read, u64 received)
{
	__builtin_memset(connection->used, 0, 3 * sizeof(struct usage));
	connection->state = PARSING;
	connection->requests++;
	connection->began = began;
	connection->read = read;
	connection->parsed = 0;
	connection->sent = 0;
	connection->ended = 0;
	connection->bytes_received = received;
	connection->bytes_sent = 0;
}

/* Tells the request as it is. */
static void tell(struct connection *connection, u64 flags)
{
	struct finished *finished = bpf_ringbuf_reserve(&ring, sizeof(*finished), 0);

	if (!finished) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	finished->established = connection->established;
	finished->accepted = connection->accepted;
	finished->began = connection->began;
	finished->read = connection->read;
	finished->parsed = connection->parsed;
	finished->sent = connection->sent;
	finished->ended = connection->ended;
	finished->bytes_received = connection->bytes_received;
	finished->bytes_sent = connection->bytes_sent;
	finished->ports = connection->ports;
	finished->number = connection->requests;
	finished->flags = flags;
	__builtin_memcpy(finished->used, connection->used, sizeof(finished->used));
	bpf_ringbuf_submit(finished, BPF_RB_NO_WAKEUP);
}

/* The request is over; `now` is when, if nothing has said so before. */
static void finish(struct connection *connection, u64 now)
{
	u64 flags = 0;

	if (connection->state >= PARTS)
		return;
	if (connection->state == RECEIVED_MORE)
		add(&connection->used[SENT], &connection->used[RECEIVED_MORE]);
	if (!connection->parsed)
		flags |= FLAG_UNPARSED;
	if (connection->state < SENT)
		flags |= FLAG_CUT;
	if (!connection->ended)
		connection->ended = now;
	connection->state = IDLE;
	tell(connection, flags);
}

/* When the thread was ready for something else: as it began to sleep in wait of it, which is known, or, if it
 * never did after the last part of the response, as it called the kernel for something else. */
static void ready(struct thread *thread, struct connection *connection)
{
	if (connection->state == SENT && !connection->ended)
		connection->ended = thread->entered;
}

/* The thread sleeps until somebody does something: who has sent all is ready, but not who waits for the
 * client to close as well. */
static void sleeps(struct thread *thread)
{
	struct connection *connection = thread->connection ? connection_of(thread->connection) : NULL;

	if (connection && connection->state == SENT && !connection->is_closing)
		connection->ended = thread->entered;
}

/* The thread turns away from its connection. */
static void leave(struct thread *thread, u64 now)
{
	struct connection *connection = thread->connection ? connection_of(thread->connection) : NULL;

	if (connection) {
		charge(thread, connection, now);
		ready(thread, connection);
		if (connection->is_closing && connection->state >= SENT)
			finish(connection, now);
	}
	thread->connection = 0;
}

/* The thread turns to a connection. */
static void turn_to(struct thread *thread, u64 key, u64 now)
{
	if (thread->connection == key)
		return;
	if (thread->connection)
		leave(thread, now);
	thread->connection = key;
}

/* What was received was the next request. */
static void promote(struct connection *connection)
{
	struct usage used = connection->used[RECEIVED_MORE];

	__builtin_memset(&connection->used[RECEIVED_MORE], 0, sizeof(used));
	connection->state = SENT;
	finish(connection, connection->next_read);
	if (!is_open)
		return;
	begin(connection, connection->next_began, connection->next_read, connection->next_received);
	connection->used[PARSING] = used;
}

/* The header of a request has been parsed. */
static void parsed(struct thread *thread, struct connection *connection, u64 now)
{
	charge(thread, connection, now);
	if (connection->state == RECEIVED_MORE) {
		promote(connection);
	} else if (connection->state != PARSING) {
		/* It lay in the server's memory already. */
		if (connection->state < PARTS)
			connection->ended = now;
		finish(connection, now);
		if (is_open && connection->epoch == epoch)
			begin(connection, now, now, 0);
	}
	if (connection->state == PARSING) {
		connection->parsed = now;
		connection->state = PROCESSING;
	}
}

static void received(struct thread *thread, struct connection *connection, u64 bytes, u64 now)
{
	/* It could not be read before. */
	u64 began = later(connection->arrived ?: now, later(connection->accepted, connection->ended));

	charge(thread, connection, now);
	connection->arrived = 0;
	switch (connection->state) {
	case IDLE:
		if (!is_open)
			return;
		begin(connection, began, now, bytes);
		charge(thread, connection, now);
		break;
	case SENT:
		ready(thread, connection);
		connection->next_began = later(began, connection->ended);
		connection->next_read = now;
		connection->next_received = bytes;
		connection->state = RECEIVED_MORE;
		if (!connection->is_probed)
			promote(connection);
		break;
	case RECEIVED_MORE:
		connection->next_received += bytes;
		break;
	default:
		connection->bytes_received += bytes;
	}
	if (connection->is_probed || connection->state > PROCESSING)
		return;
	/* Nobody says when it has been parsed; as long as there is more to read, it has not. */
	add(&connection->used[PARSING], &connection->used[PROCESSING]);
	connection->parsed = now;
	connection->state = PROCESSING;
}

static void sent(struct thread *thread, struct connection *connection, u64 bytes, u64 now)
{
	charge(thread, connection, now);
	switch (connection->state) {
	case IDLE:
		return;
	case PARSING:
		/* A handshake, or a request that it cannot parse. */
		break;
	case RECEIVED_MORE:
		/* It was more of the same request. */
		add(&connection->used[SENT], &connection->used[RECEIVED_MORE]);
		connection->bytes_received += connection->next_received;
		/* fallthrough */
	case SENT:
		add(&connection->used[PROCESSING], &connection->used[SENT]);
		/* fallthrough */
	default:
		connection->state = SENT;
	}
	connection->ended = 0;
	connection->sent = now;
	connection->bytes_sent += bytes;
}

#endif
