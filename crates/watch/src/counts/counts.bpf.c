/* How many requests a server has answered, by the size and the status of the responses, and how many bytes it
 * has sent for them: all of them, all of the time, for much less than it takes to follow them.
 *
 * Hooks: tcp_sendmsg_locked or tcp_sendmsg (what is about to be sent, of which only the beginning is looked
 * at), sock_send_length or the end of tcp_sendmsg (how much of it was), and in a server that uses OpenSSL its
 * SSL_write (tls.h). A response of HTTP/1 begins where what is sent begins with a status line (RFC 9112,
 * section 4); all that follows on the connection is of it, up to the next. So nothing has to end it: neither
 * silence nor a look. Of HTTP/2 frames are followed (frames.h). A connection that begins otherwise is of
 * another protocol. */
#include "tls.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* include/linux/socket.h, include/uapi/linux/bpf.h */
#define AF_INET 2
#define AF_INET6 10
#define BPF_SK_STORAGE_GET_F_CREATE 1
/* RFC 8446, section 5.1 */
#define TLS_ALERT 0x15
#define TLS_DATA 0x17
/* More than a handshake takes. */
#define UNKNOWN_BYTES 16384
/* Of memory, in one call. */
#define MAX_PIECES 1024

/* By place in `wanted`: what its servers send inside TLS is seen, or it is not known yet who they are. */
bool inside[MAX_PORTS];

/* Where what is about to be sent is. */
struct pieces {
	const struct iovec *list;
	const u8 *only;
	u64 offset;
	bool is_noted;
};

/* A connection. */
struct sending {
	struct response response;
	struct pieces pieces;
	struct frames frames;
	/* Bytes inside TLS that have not been found in a program. */
	u64 unseen;
	u8 protocol;
	/* A response begins with what is about to be sent, of this status. */
	u16 begins;
	/* It has not been counted among those of its protocol. */
	bool is_new;
	/* What it sends inside TLS is seen. */
	bool is_inside;
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

static bool is_kind(const struct msghdr *message, enum iter_type kind)
{
	return message->msg_iter.iter_type == kind;
}

/* Where the first of what is to be sent is, if that is in a program's memory. */
static bool note(struct msghdr *message, struct pieces *pieces)
{
	pieces->list = NULL;
	pieces->only = NULL;
	pieces->offset = message->msg_iter.iov_offset;
	if (bpf_core_enum_value_exists(enum iter_type, ITER_UBUF) &&
	    is_kind(message, bpf_core_enum_value(enum iter_type, ITER_UBUF))) {
		/* Not as a pointer that the verifier knows of. */
		pieces->only = BPF_CORE_READ(message, msg_iter.ubuf);
	} else if (is_kind(message, bpf_core_enum_value(enum iter_type, ITER_IOVEC))) {
		/* It is the kernel's copy of the list. */
		if (bpf_core_field_exists(message->msg_iter.__iov))
			pieces->list = BPF_CORE_READ(message, msg_iter.__iov);
		else
			pieces->list = BPF_CORE_READ((struct iov_iter___before_6_4 *)&message->msg_iter, iov);
	}
	return pieces->list || pieces->only;
}

/* Reads the first bytes of it. */
static bool peek(const struct pieces *pieces, u8 *bytes, u32 length)
{
	const void *from = pieces->only;

	if (!from && bpf_probe_read_kernel(&from, sizeof(from), &pieces->list->iov_base))
		return false;
	return !bpf_probe_read_user(bytes, length, from + pieces->offset);
}

/* What begins like this on a connection, which may have begun before it was seen: then it may be the middle
 * of a response. */
static u8 protocol_of(struct sock *sock, const u8 *bytes)
{
	if (status_in(bytes))
		return HTTP1;
	if (bytes[0] >= TLS_ALERT && bytes[0] <= TLS_DATA && bytes[1] == 3 && bytes[2] <= 4)
		return TLS;
	if (BPF_CORE_READ((struct tcp_sock *)sock, bytes_sent))
		return is_response_head(bytes) ? HTTP2 : NOT_KNOWN;
	return is_preface(bytes) ? HTTP2 : OTHER;
}

/* After a switch from HTTP/1 the response is that of the request that has asked for it. */
static void switch_to_frames(struct sending *sending)
{
	struct response *response = &sending->response;

	count(response->class, response->status, -1ULL, -response->bytes);
	sending->protocol = HTTP2;
	begin_frames(&sending->frames);
}

/* Some of it, or the first, is about to be taken. */
static void about_to_send(struct sock *sock, struct msghdr *message)
{
	struct sending *sending;
	struct pieces pieces = {};
	u8 bytes[12] = {};

	if (place_of(sock) == MAX_PORTS)
		return;
	sending = bpf_sk_storage_get(&sendings, sock, 0, BPF_SK_STORAGE_GET_F_CREATE);
	/* Of HTTP/2 the call is looked at when it ends. */
	if (!sending || sending->protocol > HTTP2 || (sending->protocol == HTTP2 && sending->pieces.is_noted))
		return;
	if (!note(message, &pieces)) {
		/* A file. */
		sending->pieces = pieces;
		sending->pieces.is_noted = true;
		return;
	}
	if (sending->protocol != HTTP2 && peek(&pieces, bytes, sizeof(bytes))) {
		if (sending->protocol == NOT_KNOWN) {
			sending->protocol = protocol_of(sock, bytes);
			sending->is_new = true;
			if (sending->protocol == HTTP2)
				begin_frames(&sending->frames);
		}
		if (sending->response.has_switched) {
			if (is_preface(bytes))
				switch_to_frames(sending);
		} else if (sending->protocol == HTTP1) {
			sending->begins = status_in(bytes) ?: sending->begins;
		}
	}
	pieces.is_noted = true;
	sending->pieces = pieces;
}

/* Since Linux 6.16; where there is no way to a function by its name. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(hw_send_locked, struct sock *sock, struct msghdr *message, struct sk_buff *buffer, int goal)
{
	about_to_send(sock, message);
	return 0;
}

SEC("fentry/tcp_sendmsg")
int BPF_PROG(hw_tcp_sendmsg, struct sock *sock, struct msghdr *message, u64 size)
{
	if (size)
		about_to_send(sock, message);
	return 0;
}

/* What has been taken of pieces of memory, one after the other. */
struct taken {
	const struct iovec *list;
	u64 offset;
	u64 left;
};

/* The next piece of it, at this place; false when all of it has been seen, or cannot be. */
static bool next_piece(struct taken *taken, u32 at, struct iovec *piece)
{
	u64 length;

	if (!taken->left || bpf_probe_read_kernel(piece, sizeof(*piece), &taken->list[at]))
		return false;
	length = piece->iov_len > taken->offset ? piece->iov_len - taken->offset : 0;
	if (length > taken->left)
		length = taken->left;
	piece->iov_base += taken->offset;
	piece->iov_len = length;
	taken->offset = 0;
	taken->left -= length;
	return true;
}

/* Pieces with frames of HTTP/2. */
struct stroll {
	struct taken taken;
	struct frames *frames;
};

static long stroll_on(u32 at, struct stroll *stroll)
{
	struct iovec piece = {};

	if (stroll->frames->has_strayed || !next_piece(&stroll->taken, at, &piece))
		return 1;
	walk_frames(stroll->frames, piece.iov_base, piece.iov_len);
	return 0;
}

/* So many bytes of what was noted have been taken. */
static void sent_frames(struct sending *sending, u32 bytes)
{
	const struct pieces *pieces = &sending->pieces;
	struct stroll stroll = {
		.taken = {.list = pieces->list, .offset = pieces->offset, .left = bytes},
		.frames = &sending->frames,
	};

	if (pieces->list)
		bpf_loop(MAX_PIECES, stroll_on, &stroll, 0);
	else
		walk_frames(&sending->frames, pieces->only ? pieces->only + pieces->offset : NULL, bytes);
	if (pieces->list && stroll.taken.left && !sending->frames.has_strayed)
		stray(&sending->frames);
}

/* Pieces of memory, any of which a response of HTTP/1 may begin with: of requests that came together some
 * servers send the responses together. */
struct heads {
	struct taken taken;
	struct response *response;
	/* Bytes of the response that goes on, and its status where it begins with them. */
	u64 bytes;
	u16 begins;
};

static void count_piece(struct response *response, u64 bytes, u16 begins)
{
	if (begins)
		begin(response, bytes, begins);
	else
		more(response, bytes);
}

static long look_for_head(u32 at, struct heads *heads)
{
	struct iovec piece = {};
	u8 bytes[12] = {};
	u16 status = 0;

	if (!next_piece(&heads->taken, at, &piece))
		return 1;
	if (heads->bytes && piece.iov_len >= sizeof(bytes) &&
	    !bpf_probe_read_user(bytes, sizeof(bytes), piece.iov_base))
		status = status_in(bytes);
	if (status) {
		count_piece(heads->response, heads->bytes, heads->begins);
		heads->begins = status;
		heads->bytes = 0;
	}
	heads->bytes += piece.iov_len;
	return 0;
}

/* So many bytes of HTTP/1 have been taken of what was noted. */
static void sent_heads(struct sending *sending, u32 bytes)
{
	struct heads heads = {
		.taken = {.list = sending->pieces.list, .offset = sending->pieces.offset, .left = bytes},
		.response = &sending->response,
		.begins = sending->begins,
	};

	sending->begins = 0;
	if (heads.taken.list)
		bpf_loop(MAX_PIECES, look_for_head, &heads, 0);
	count_piece(heads.response, heads.bytes + heads.taken.left, heads.begins);
}

/* Something was sent inside TLS. Handshakes are, too, so that a little says nothing where servers can be seen
 * inside it. */
static void sent_tls(struct sock *sock, struct sending *sending, s32 bytes, u32 place)
{
	struct session *session = session_of((u64)sock, sending->is_inside);

	if (session) {
		session->is_blocked = bytes < 0;
		session->has_sent = true;
		sending->is_inside = true;
	}
	if (sending->is_inside || bytes < 0)
		return;
	sending->unseen += bytes;
	if (place < MAX_PORTS && inside[place] && sending->unseen < UNKNOWN_BYTES)
		return;
	if (sending->is_new)
		count_connection(TLS);
	sending->is_new = false;
	__sync_fetch_and_add(&mine()->other_bytes, sending->unseen);
	sending->unseen = 0;
}

static void sent(struct sock *sock, s32 bytes)
{
	u32 place = place_of(sock);
	struct sending *sending;

	if (place == MAX_PORTS)
		return;
	sending = bpf_sk_storage_get(&sendings, sock, 0, 0);
	if (!sending)
		return;
	/* What a file has is not in a program's memory. */
	if (!sending->pieces.is_noted)
		sending->pieces = (struct pieces){};
	sending->pieces.is_noted = false;
	if (sending->protocol == TLS) {
		sent_tls(sock, sending, bytes, place);
		return;
	}
	if (bytes <= 0)
		return;
	if (sending->is_new && sending->protocol != NOT_KNOWN) {
		sending->is_new = false;
		count_connection(sending->protocol);
	}
	if (sending->protocol == HTTP2 && !sending->frames.has_strayed) {
		sent_frames(sending, bytes);
	} else if (sending->protocol != HTTP1) {
		__sync_fetch_and_add(&mine()->other_bytes, bytes);
	} else {
		sent_heads(sending, bytes);
	}
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(hw_send_counted, struct sock *sock, int bytes, int flags)
{
	sent(sock, bytes);
	return 0;
}

/* Until Linux 6.3 there is no such tracepoint. */
SEC("fexit/tcp_sendmsg")
int BPF_PROG(hw_tcp_sent, struct sock *sock, struct msghdr *message, u64 size, int bytes)
{
	sent(sock, bytes);
	return 0;
}

/* A file that is sent. */
SEC("fexit/tcp_sendpage")
int BPF_PROG(hw_tcp_sendpage, struct sock *sock, struct page *page, int offset, u64 size, int flags,
	     int bytes)
{
	sent(sock, bytes);
	return 0;
}
