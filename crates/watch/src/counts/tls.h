/* Responses inside TLS, as a server gives them to be sent: to OpenSSL, or a library with its functions. */
#ifndef HEADWORKS_COUNTS_TLS_H
#define HEADWORKS_COUNTS_TLS_H

#include "../bpf/tasks.h"
#include "frames.h"

#define MAX_SESSIONS 16384

/* A connection, as the library knows it. */
struct session {
	/* Its socket, as soon as something was sent there; 0 as long as that was on no wanted port. */
	u64 socket;
	/* What was written last. */
	u64 from;
	u64 to;
	/* The last bytes of it, and some of the first: of a frame the stream, since several may get the same.
	 */
	u64 tail;
	u64 head;
	struct response response;
	struct frames frames;
	u32 epoch;
	u8 protocol;
	/* Seen from its beginning. */
	bool is_whole;
	/* Its handshake was seen, so that its socket is known by the time of the first response. */
	bool has_shaken;
	/* What is written is written once. */
	bool is_of_go;
	/* It is a client's: what is written is asked of another server. */
	bool is_client;
	/* Something was sent since it was written. */
	bool has_sent;
	/* What is encrypted and not taken is kept by the program. */
	bool keeps;
	/* Up to there in the socket's stream. */
	u32 sent_to;
};

struct session_key {
	u64 at;
	u64 process;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_SESSIONS);
	__type(key, struct session_key);
	__type(value, struct session);
} sessions SEC(".maps");

/* By the address of its socket, where that is known from what a program has in its memory. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_SESSIONS);
	__type(key, u64);
	__type(value, struct session_key);
} of_sockets SEC(".maps");

/* Which of them a thread has turned to last. */
struct writer {
	struct session_key session;
	/* What is to be looked at when it is sent, if anything. */
	u64 from;
	u64 length;
	/* What was given to SSL_write_ex. */
	u64 given;
	/* Nothing has been sent since. */
	bool is_fresh;
	/* And it is not known yet whether SSL_write is given it for that, as some libraries do. */
	bool is_given;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct writer);
} writers SEC(".maps");

static const struct session new_session;

/* Of programs that are asked some are clients as well. */
bool has_clients;

static struct session_key key_of(u64 at)
{
	struct session_key key = {.at = at, .process = bpf_get_current_pid_tgid() >> 32};

	return key;
}

/* The session of this key, if what is known of it has gone on. */
static struct session *current(const struct session_key *key)
{
	struct session *session = bpf_map_lookup_elem(&sessions, key);

	return session && (session->epoch == epoch || session->is_client) ? session : NULL;
}

static struct writer *this_writer(void)
{
	return bpf_task_storage_get(&writers, bpf_get_current_task_btf(), 0, 0);
}

static void turn_to(const struct session_key *key, u64 from, u64 length)
{
	struct writer *writer =
		bpf_task_storage_get(&writers, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!writer)
		return;
	writer->session = *key;
	writer->from = from;
	writer->length = length;
	writer->is_fresh = true;
}

/* What a session begins with, or goes on with if it was not seen from its beginning. */
static void recognise(struct session *session, const u8 *bytes)
{
	if (status_in(bytes)) {
		session->protocol = HTTP1;
	} else if (session->is_whole ? is_preface(bytes) : is_response_head(bytes) || is_preface(bytes)) {
		session->protocol = HTTP2;
		begin_frames(&session->frames);
	} else if (session->is_whole) {
		session->protocol = OTHER;
	}
}

/* What is written ends like this; 0 if it is shorter. */
static u64 tail_of(u64 from, u64 to)
{
	u64 tail = 0;

	if (to >= from + sizeof(tail))
		bpf_probe_read_user(&tail, sizeof(tail), (void *)to - sizeof(tail));
	return tail;
}

/* And begins like this, behind the first eight bytes. */
static u64 head_of(u64 from, u64 to)
{
	return tail_of(from, to < from + 16 ? to : from + 16);
}

/* The socket has not taken all of what was sent of it. */
static bool is_pending(const struct session *session)
{
	struct tcp_sock *socket = (struct tcp_sock *)session->socket;

	return socket && (s32)(session->sent_to - BPF_CORE_READ(socket, write_seq)) > 0;
}

/* What was written before and not taken is written again, as often as it takes. How much of the beginning
 * that is. Some programs keep what is not taken, as Apache does, and write something else meanwhile, perhaps
 * from the same place: they do not write anything again. */
static u64 again(struct session *session, u64 from, u64 to)
{
	bool is_within = from >= session->from && from < session->to;
	u64 before = session->to - session->from;

	if (session->is_of_go || session->keeps)
		return 0;
	if (is_within && from > session->from && to == session->to)
		return to - from;
	if (!is_pending(session))
		return 0;
	/* It is never written again in part. */
	if (is_within && to >= session->to && tail_of(from, session->to) == session->tail &&
	    (from > session->from || head_of(from, to) == session->head))
		return session->to - from;
	/* It may have been moved meanwhile. */
	if (session->tail && to - from >= before && tail_of(from, from + before) == session->tail &&
	    head_of(from, from + before) == session->head)
		return before;
	session->keeps = true;
	return 0;
}

/* The protocol of a connection with this inside TLS. */
static u32 inside_of(const struct session *session)
{
	return session->protocol == HTTP1 ? TLS_HTTP1 : session->protocol == HTTP2 ? TLS_HTTP2 : OTHER;
}

static void wrote(struct session *session, u64 from, u64 length)
{
	u64 old = again(session, from, from + length);
	const u8 *at = (const u8 *)from + old;
	u8 bytes[12] = {};
	u16 status;

	session->from = from;
	session->to = from + length;
	session->tail = tail_of(session->from, session->to);
	session->head = head_of(session->from, session->to);
	session->has_sent = false;
	length -= old;
	if (!length)
		return;
	if (session->protocol <= HTTP1 && !session->response.has_switched) {
		/* The shortest that is looked for is a frame without payload. */
		bpf_probe_read_user(bytes, length < sizeof(bytes) ? FRAME_HEAD : sizeof(bytes), at);
		if (session->protocol == NOT_KNOWN)
			recognise(session, bytes);
	}
	if (session->protocol == HTTP1) {
		status = session->response.has_switched ? 0 : status_in(bytes);
		if (status == 100 && length >= CONTINUE_BYTES + sizeof(bytes)) {
			length -= CONTINUE_BYTES;
			bpf_probe_read_user(bytes, sizeof(bytes), at + CONTINUE_BYTES);
			status = status_in(bytes);
		}
		if (status)
			begin(&session->response, length, status);
		else
			more(&session->response, length, mine());
	} else if (session->protocol == HTTP2 && !session->frames.has_strayed) {
		walk_frames(&session->frames, at, length);
	} else {
		__sync_fetch_and_add(&mine()->other_bytes, length);
	}
}

/* The session of this socket: the one that is known, or the one that this thread has turned to, if nothing
 * has been sent since. Of a connection that has had none yet, what is known of the address may be of one that
 * has ended. */
static struct session *session_of(u64 socket, bool has_one)
{
	struct writer *writer = this_writer();
	struct session_key *key = bpf_map_lookup_elem(&of_sockets, &socket);
	struct session *session = key ? current(key) : NULL;
	bool is_known = session && session->socket == socket && (has_one || session->is_of_go);
	bool is_its =
		key && writer && key->at == writer->session.at && key->process == writer->session.process;

	if (!writer || !writer->is_fresh || (is_known && !is_its))
		return is_known ? session : NULL;
	session = current(&writer->session);
	/* It keeps its socket; this one is another's, whose session has not been seen. */
	if (!session || (session->socket && session->socket != socket))
		return NULL;
	writer->is_fresh = false;
	if (!session->socket) {
		session->socket = socket;
		bpf_map_update_elem(&of_sockets, &socket, &writer->session, BPF_ANY);
	}
	if (writer->length)
		wrote(session, writer->from, writer->length);
	return session;
}

static struct session *made(const struct session_key *key)
{
	struct session *session;

	bpf_map_update_elem(&sessions, key, &new_session, BPF_ANY);
	session = bpf_map_lookup_elem(&sessions, key);
	if (session)
		session->epoch = epoch;
	return session;
}

static struct session *known(const struct session_key *key)
{
	return current(key) ?: made(key);
}

/* A server's side of a connection begins. */
static void begun(const struct session_key *key)
{
	struct session *session = made(key);

	if (session)
		session->is_whole = true;
}

/* A client's side of one begins. */
static void begun_by_client(const struct session_key *key)
{
	struct session *session = made(key);

	has_clients = true;
	if (session)
		session->is_client = true;
}

/* A program gives so many bytes to the library. */
static void written(u64 at, u64 from, u64 length)
{
	struct session_key key = key_of(at);
	struct session *session = known(&key);

	if (!session || session->is_client)
		return;
	if (session->socket) {
		wrote(session, from, length);
		turn_to(&key, 0, 0);
	} else if (!session->has_shaken) {
		/* The next socket that this thread sends on will be it. Where its handshake went to a wanted
		 * port, that is known already. */
		turn_to(&key, from, length);
	}
}

/* Of a function that a program has just called, the arguments (arch/x86/include/asm/ptrace.h, in the order of
 * the System V ABI; arch/arm64/include/uapi/asm/ptrace.h). */
static u64 argument(const u64 *registers, u32 at)
{
#if defined(__TARGET_ARCH_x86)
	return at == 0 ? registers[14] : at == 1 ? registers[13] : registers[12];
#else
	return at == 0 ? registers[0] : at == 1 ? registers[1] : registers[2];
#endif
}

/* This thread has sent something on another port: what it has turned to last is there. Where there are
 * clients in the same programs it may be theirs. */
static void sent_elsewhere(void)
{
	struct writer *writer = this_writer();
	struct session *session;

	if (has_clients || !writer || !writer->is_fresh)
		return;
	writer->is_fresh = false;
	session = current(&writer->session);
	if (session && !session->socket)
		session->has_shaken = true;
}

/* SSL_write(session, from, length) */
SEC("uprobe")
int hw_uprobe_write(u64 *registers)
{
	struct writer *writer = this_writer();
	s32 length = argument(registers, 2);
	bool is_seen = writer && writer->is_given && writer->given == argument(registers, 1) &&
		       writer->session.at == argument(registers, 0);

	if (writer)
		writer->is_given = false;
	if (length > 0 && !is_seen)
		written(argument(registers, 0), argument(registers, 1), length);
	return 0;
}

/* SSL_write_ex(session, from, length, taken) */
SEC("uprobe")
int hw_uprobe_wr_ex(u64 *registers)
{
	u64 length = argument(registers, 2);
	struct writer *writer;

	if (!length)
		return 0;
	written(argument(registers, 0), argument(registers, 1), length);
	writer = this_writer();
	if (writer) {
		writer->given = argument(registers, 1);
		writer->is_given = true;
	}
	return 0;
}

/* SSL_set_accept_state(session) */
SEC("uprobe")
int hw_uprobe_begin(u64 *registers)
{
	struct session_key key = key_of(argument(registers, 0));

	begun(&key);
	return 0;
}

/* SSL_set_connect_state(session) */
SEC("uprobe")
int hw_uprobe_cl(u64 *registers)
{
	struct session_key key = key_of(argument(registers, 0));

	begun_by_client(&key);
	return 0;
}

/* SSL_free(session): its memory is used again. */
SEC("uprobe")
int hw_uprobe_end(u64 *registers)
{
	struct session_key key = key_of(argument(registers, 0));

	bpf_map_delete_elem(&sessions, &key);
	return 0;
}

/* SSL_do_handshake(session): what the thread sends is this one's. */
SEC("uprobe")
int hw_uprobe_shake(u64 *registers)
{
	struct session_key key = key_of(argument(registers, 0));
	struct session *session = current(&key);

	if (session && !session->is_client) {
		session->has_shaken = true;
		turn_to(&key, 0, 0);
	}
	return 0;
}

#endif
