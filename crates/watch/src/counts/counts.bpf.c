/* How many requests a server has answered, by the size and the status of the responses, and how many bytes it
 * has sent for them: all of them, all of the time, for much less than it takes to follow them.
 *
 * Hooks: tcp_sendmsg_locked, where it is seen what is about to be sent and how much the connection has taken
 * so far (tcp_sock.write_seq), so that one program for each send is enough; the connection's states, of which
 * one is the end of what can be sent; in a server that uses OpenSSL its SSL_write (tls.h), or that of Go
 * (go.h); and what was sent at unix sockets (unix.h). A response of HTTP/1 begins where what is sent begins
 * with a status line (RFC 9112, section 4); all that follows on the connection is of it, up to the next. So
 * nothing has to end it: neither silence nor a look. Of HTTP/2 frames are followed (frames.h). A connection
 * that begins otherwise is of another protocol.
 *
 * What a program has in its memory is taken for sent when it is seen, before the connection has taken it.
 * What it does not take comes again, and is known by its place in the stream; or never, which is seen at the
 * end. A file is not looked at: what the connection has taken of it is seen with what comes next, or at the
 * end, or by hw_map_pending. */
#include "go.h"
#include "pieces.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* include/linux/socket.h, include/uapi/linux/bpf.h */
#define AF_INET 2
#define AF_INET6 10
#define BPF_SK_STORAGE_GET_F_CREATE 1
/* include/net/tcp_states.h */
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
/* include/net/sock.h */
#define SEND_SHUTDOWN 2
/* RFC 8446, section 5.1 */
#define TLS_ALERT 0x15
#define TLS_DATA 0x17
/* FastCGI, version 1: what a responder sends (its specification, section 8). */
#define FCGI_END_REQUEST 3
#define FCGI_STDOUT 6
#define FCGI_STDERR 7
/* More than a handshake takes; and what it seldom takes, of a connection that has ended. */
#define UNKNOWN_BYTES 16384
#define HANDSHAKE_BYTES 8192
/* So many connections say enough of a port. */
#define MAX_BLIND 8
/* What is sent so often in so small pieces is no response that had begun before. */
#define SMALL_BYTES 1024
#define MAX_SMALL 16

/* By place in `wanted`: what its servers send inside TLS is seen, or it is not known yet who they are. */
bool inside[MAX_PORTS];
/* So many connections of TLS have ended there inside which nothing was seen; and whether any was seen. */
u32 blind[MAX_PORTS];
bool shown[MAX_PORTS];
/* Programs are asked what they give to TLS. */
bool asks;

/* Of a file that is sent without end one look is taken in so many bytes, of 4 MiB. */
#define LOOK_AT_FILES 0x3fc00000

/* A connection. */
struct sending {
	struct response response;
	struct frames frames;
	/* Bytes inside TLS that have not been found in a program. */
	u64 unseen;
	/* Up to where in its stream what is sent has been seen, as the kernel counts on 32 bits, and about as
	 * position_of() does. */
	u32 seen_to;
	u64 about;
	u32 epoch;
	/* Of its port in `wanted`: when its end is told, it has given that back. */
	u32 place;
	u8 protocol;
	/* Small pieces of an unknown protocol. */
	u8 small;
	/* Among those of its protocol. */
	bool is_counted;
	/* What it sends inside TLS is seen. */
	bool is_inside;
	/* Nothing is sent any more. */
	bool is_over;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sending);
} sendings SEC(".maps");

/* The place of its port in `wanted`; MAX_PORTS if it has none. */
static u32 place_of(const struct sock *sock)
{
	u16 family = sock->__sk_common.skc_family, port = sock->__sk_common.skc_num;
	u32 at;

	if (family != AF_INET && family != AF_INET6)
		return MAX_PORTS;
	for (at = 0; at < MAX_PORTS && at < ports; at++) {
		if (wanted[at] == port)
			return !namespace || sock->__sk_common.skc_net.net->ns.inum == namespace ? at
												 : MAX_PORTS;
	}
	return MAX_PORTS;
}

static bool is_fastcgi(const u8 *bytes)
{
	/* Of the head the number of the request, 1 most of the time, padding and what is reserved. */
	return bytes[0] == 1 && !bytes[2] && bytes[3] && bytes[6] < 8 && !bytes[7] &&
	       (bytes[1] == FCGI_END_REQUEST || bytes[1] == FCGI_STDOUT || bytes[1] == FCGI_STDERR);
}

/* What begins like this on a connection, which may have begun before it was seen: then it may be the middle
 * of a response. */
static u8 protocol_of(bool has_sent, const u8 *bytes)
{
	if (status_in(bytes))
		return HTTP1;
	if (bytes[0] >= TLS_ALERT && bytes[0] <= TLS_DATA && bytes[1] == 3 && bytes[2] <= 4)
		return TLS;
	if (is_fastcgi(bytes))
		return OTHER;
	if (is_preface(bytes))
		return HTTP2;
	if (has_sent)
		return is_response_head(bytes) ? HTTP2 : NOT_KNOWN;
	return OTHER;
}

/* After a switch from HTTP/1 the response is that of the request that has asked for it. */
static void switch_to_frames(struct sending *sending)
{
	struct response *response = &sending->response;

	count(mine(), response->class, response->status, -1ULL, -response->bytes);
	sending->protocol = HTTP2;
	begin_frames(&sending->frames);
}

/* Where it is in its stream, in so many bits that it does not come to the same again, but for a little that
 * is acknowledged at this moment. */
static u64 position_of(const struct tcp_sock *socket)
{
	return socket->bytes_acked + (u32)(socket->write_seq - socket->snd_una);
}

/* So much of its stream has been seen more. */
static void see(struct sending *sending, s64 bytes)
{
	sending->seen_to += bytes;
	sending->about += bytes;
}

/* How much the connection has taken that was not seen; less than nothing where more was seen than it took. Of
 * a file that can be more than a difference of 32 bits. */
static s64 unseen_of(const struct sending *sending, const struct tcp_sock *socket)
{
	u64 about = position_of(socket) - sending->about;

	return about + (s32)(socket->write_seq - sending->seen_to - (u32)about);
}

static void count_once(struct sending *sending, u32 protocol)
{
	if (!sending->is_counted)
		count_connection(protocol);
	sending->is_counted = true;
}

static void tell_unseen(struct sending *sending)
{
	count_once(sending, TLS);
	__sync_fetch_and_add(&mine()->other_bytes, sending->unseen);
	sending->unseen = 0;
}

/* So much is sent inside TLS that no program has shown. Handshakes are, too, so that a little says nothing
 * where servers can be seen inside it. */
static void sent_unseen(struct sending *sending, u64 bytes)
{
	u32 place = sending->place;

	if (sending->is_inside)
		return;
	sending->unseen += bytes;
	if (place < MAX_PORTS && inside[place] && (shown[place] || blind[place] < MAX_BLIND) &&
	    sending->unseen < UNKNOWN_BYTES)
		return;
	tell_unseen(sending);
}

/* The connection has taken so many bytes that were not looked at: a file; or it has not taken so many that
 * were, if that is less than nothing. */
static void passed(struct sending *sending, s64 bytes)
{
	if (sending->protocol == HTTP1) {
		more(&sending->response, bytes, mine());
	} else if (bytes < 0) {
		return;
	} else if (sending->protocol == TLS) {
		sent_unseen(sending, bytes);
	} else if (sending->protocol == HTTP2 && !sending->frames.has_strayed) {
		walk_frames(&sending->frames, NULL, bytes);
	} else {
		__sync_fetch_and_add(&mine()->other_bytes, bytes);
	}
}

/* What a connection begins with when it is first seen. */
static void recognise_connection(struct sending *sending, bool has_sent, const u8 *bytes)
{
	sending->protocol = protocol_of(has_sent, bytes);
	if (sending->protocol == HTTP2)
		begin_frames(&sending->frames);
	/* What is inside is not known yet. */
	if (sending->protocol != TLS && sending->protocol != NOT_KNOWN)
		count_once(sending, sending->protocol);
}

/* So many bytes of HTTP/1, which begin like this. An interim response that was asked for may come together
 * with the final one. */
static void look_at_responses(struct response *response, const struct pieces *pieces, u32 bytes,
			      const u8 *first)
{
	struct pieces behind = *pieces;
	u8 next[12] = {};
	u16 status = status_in(first);

	if (status == 100 && bytes > CONTINUE_BYTES) {
		behind.offset += CONTINUE_BYTES;
		bytes -= CONTINUE_BYTES;
		status = peek(&behind, bytes, next) ? status_in(next) : 0;
	}
	look_at_heads(response, &behind, bytes, status);
}

/* A connection that something is sent on. */
struct sender {
	/* Of TCP; 0 of a unix socket. */
	u64 socket;
	/* Something has been sent before it was seen, or may have been. */
	bool has_sent;
};

/* So many bytes of this are new. */
static void look_at(struct sending *sending, const struct sender *sender, const struct pieces *pieces,
		    u32 bytes)
{
	u8 first[12] = {};
	struct session *session;

	if (sending->protocol <= HTTP1 && peek(pieces, bytes, first)) {
		if (sending->protocol == NOT_KNOWN)
			recognise_connection(sending, sender->has_sent, first);
		else if (sending->response.has_switched && is_preface(first))
			switch_to_frames(sending);
	}
	if (sending->protocol == HTTP1) {
		if (sending->response.has_switched)
			more(&sending->response, bytes, mine());
		else
			look_at_responses(&sending->response, pieces, bytes, first);
	} else if (sending->protocol == HTTP2 && !sending->frames.has_strayed) {
		look_at_frames(&sending->frames, pieces, bytes);
	} else if (sending->protocol == TLS) {
		session = sender->socket ? session_of(sender->socket, sending->is_inside) : NULL;
		if (session) {
			session->has_sent = true;
			session->sent_to = sending->seen_to;
			sending->is_inside = true;
			if (sending->place < MAX_PORTS)
				shown[sending->place] = true;
			if (session->protocol != NOT_KNOWN)
				count_once(sending, inside_of(session));
		}
		sent_unseen(sending, bytes);
	} else {
		__sync_fetch_and_add(&mine()->other_bytes, bytes);
		if (sending->protocol == NOT_KNOWN && bytes < SMALL_BYTES && ++sending->small == MAX_SMALL)
			count_once(sending, OTHER);
	}
}

/* What is known of a connection begins now, or again, at this place of its stream: where it is in a response
 * or a frame is not known. */
static void take_up(struct sending *sending, u32 seen_to, u64 about)
{
	sending->epoch = epoch;
	sending->seen_to = seen_to;
	sending->about = about;
	sending->response = (struct response){};
	sending->unseen = 0;
	if (sending->protocol == HTTP2)
		sending->protocol = NOT_KNOWN;
}

/* Some of it, or the first, is about to be taken. */
static void about_to_send(struct sock *sock, struct msghdr *message)
{
	struct pieces pieces = {};
	struct sender sender = {};
	struct sending *sending;
	struct tcp_sock *socket;
	s64 unseen;
	u32 place, left = 0, old = 0;

	if (find(message, &pieces))
		left = message->msg_iter.count;
	socket = bpf_skc_to_tcp_sock(sock);
	if (!socket || (!left && socket->write_seq & LOOK_AT_FILES))
		return;
	place = place_of(sock);
	if (place == MAX_PORTS) {
		if (asks)
			sent_elsewhere();
		return;
	}
	sending = bpf_sk_storage_get(&sendings, sock, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!sending || sending->is_over)
		return;
	sending->place = place;
	if (sending->epoch != epoch)
		take_up(sending, socket->write_seq, position_of(socket));
	unseen = unseen_of(sending, socket);
	if (unseen > 0) {
		passed(sending, unseen);
		see(sending, unseen);
	} else {
		/* That much of it has been seen before. */
		old = -unseen;
	}
	pieces.offset += old;
	if (left <= old)
		return;
	left -= old;
	see(sending, left);
	sender.socket = (u64)socket;
	sender.has_sent = socket->bytes_sent;
	look_at(sending, &sender, &pieces, left);
}

/* Since Linux 6.16; where there is no way to a function by its name. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(hw_send_locked, struct sock *sock, struct msghdr *message, struct sk_buff *buffer, int goal)
{
	about_to_send(sock, message);
	return 0;
}

SEC("fentry/tcp_sendmsg_locked")
int BPF_PROG(hw_tcp_sendmsg, struct sock *sock, struct msghdr *message, u64 size)
{
	/* Then nothing is taken. The tracepoint comes after this has been found out. */
	if (!sock->sk_err && !(sock->sk_shutdown & SEND_SHUTDOWN))
		about_to_send(sock, message);
	return 0;
}

/* The server, or the kernel for it, has ended its side of a connection, or all of it; the FIN is not yet in
 * its stream. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(hw_state_counts, struct sock *sock, int before, int state)
{
	struct sending *sending;
	struct tcp_sock *socket;
	s64 unseen;

	if (state != TCP_FIN_WAIT1 && state != TCP_LAST_ACK && state != TCP_CLOSE)
		return 0;
	sending = bpf_sk_storage_get(&sendings, sock, 0, 0);
	socket = bpf_skc_to_tcp_sock(sock);
	if (!sending || !socket || sending->is_over || sending->epoch != epoch)
		return 0;
	sending->is_over = true;
	if (sending->protocol == TLS && !sending->is_inside) {
		if (sending->place < MAX_PORTS)
			__sync_fetch_and_add(&blind[sending->place], 1);
		if (sending->unseen > HANDSHAKE_BYTES)
			tell_unseen(sending);
	}
	unseen = unseen_of(sending, socket);
	if (unseen)
		passed(sending, unseen);
	see(sending, unseen);
	return 0;
}

/* What a connection has taken and was not looked at. It is not noted there, since something may be sent at
 * the same moment. */
static void add_pending(struct tcp_sock *socket, struct sending *sending)
{
	struct response response;
	s64 bytes;

	if (sending->is_over || sending->epoch != epoch)
		return;
	bytes = unseen_of(sending, socket);
	if (!bytes)
		return;
	if (sending->protocol == HTTP1) {
		response = sending->response;
		more(&response, bytes, &pending);
	} else if (bytes > 0 && sending->protocol != HTTP2 && !sending->is_inside) {
		pending.other_bytes += bytes;
	}
}

/* Connections of which something is known, one after the other. */
SEC("iter/bpf_sk_storage_map")
int hw_map_pending(struct bpf_iter__bpf_sk_storage_map *each)
{
	struct sending *sending = each->value;
	struct sock *sock = each->sk;
	struct tcp_sock *socket;

	if (!sock || !sending)
		return 0;
	socket = bpf_skc_to_tcp_sock(sock);
	if (socket)
		add_pending(socket, sending);
	return 0;
}

/* All of the network namespace, where a kernel does not allow those. */
SEC("iter/tcp")
int hw_tcp_pending(struct bpf_iter__tcp *each)
{
	struct sock_common *common = each->sk_common;
	struct sending *sending;
	struct tcp_sock *socket;

	if (!common)
		return 0;
	socket = bpf_skc_to_tcp_sock(common);
	if (!socket)
		return 0;
	sending = bpf_sk_storage_get(&sendings, socket, 0, 0);
	if (sending)
		add_pending(socket, sending);
	return 0;
}

#include "unix.h"
