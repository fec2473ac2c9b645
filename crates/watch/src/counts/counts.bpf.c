/* How many requests a server has answered, by the size and the status of the responses, and how many bytes it
 * has sent for them: all of them, all of the time, for much less than it takes to follow them.
 *
 * Hooks: tcp_sendmsg_locked or tcp_sendmsg (what is about to be sent, of which only the beginning is looked
 * at), sock_send_length (how much of it was). A response begins where what is sent begins with a status line
 * (RFC 9112, section 4); all that follows on the connection is of it, up to the next. So nothing has to end
 * it: neither silence nor a look. A connection that begins otherwise is of another protocol. */
#include "../bpf/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* As in traced.rs. */
#define MAX_PORTS 16
#define MAX_CLASSES 16
#define MAX_CPUS 512
#define STATUSES 6

/* include/linux/socket.h, include/uapi/linux/in.h, include/uapi/linux/bpf.h */
#define AF_INET 2
#define AF_INET6 10
#define BPF_SK_STORAGE_GET_F_CREATE 1
#define BPF_F_NO_PREALLOC 1
/* RFC 8446, section 5.1; RFC 9113, section 6.5 */
#define TLS_ALERT 0x15
#define TLS_HANDSHAKE 0x16
#define TLS_DATA 0x17
#define HTTP2_SETTINGS 4

const volatile u16 wanted[MAX_PORTS];
const volatile u32 ports;
/* Between classes, growing. */
const volatile u64 bounds[MAX_CLASSES];
const volatile u32 classes;

enum protocol { NOT_KNOWN, HTTP1, TLS, HTTP2, OTHER, PROTOCOLS };

/* By processor. As in traced.rs; sums wrap, since a response that grows leaves one class for another. */
struct counts {
	u64 bytes[MAX_CLASSES];
	/* requests, by class and the first digit of the status */
	u64 statuses[MAX_CLASSES * STATUSES];
	/* Connections on which something was sent, by protocol, and bytes of those that are not HTTP/1, or
	 * not known to be. */
	u64 connections[PROTOCOLS];
	u64 other_bytes;
	u64 apart[3];
} counts[MAX_CPUS];

/* A connection. */
struct sending {
	/* Of the response so far. */
	u64 bytes;
	u32 class;
	/* First digit of its status. */
	u8 status;
	u8 protocol;
	/* A response begins with what is about to be sent, of this status. */
	u16 begins;
	/* It has switched to another protocol: what is sent is of the last response. */
	u8 is_switched;
	/* It has not been counted among those of its protocol. */
	u8 is_new;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sending);
} sendings SEC(".maps");

static bool is_ours(const struct sock *sock)
{
	u16 family = sock->__sk_common.skc_family, port = sock->__sk_common.skc_num;
	u32 at;

	if (family != AF_INET && family != AF_INET6)
		return false;
	for (at = 0; at < MAX_PORTS && at < ports; at++) {
		if (wanted[at] == port)
			return true;
	}
	return false;
}

static u32 class_of(u64 bytes)
{
	u32 at;

	for (at = 0; at + 1 < MAX_CLASSES && at + 1 < classes; at++) {
		if (bytes <= bounds[at])
			break;
	}
	return at;
}

static struct counts *mine(void)
{
	return &counts[bpf_get_smp_processor_id() % MAX_CPUS];
}

/* Reads the first bytes of what is to be sent, if that is in a program's memory. */
static bool peek(struct msghdr *message, u8 *bytes, u32 length)
{
	u8 kind = message->msg_iter.iter_type;
	const struct iovec *pieces = NULL;
	const void *from = NULL;

	if (bpf_core_enum_value_exists(enum iter_type, ITER_UBUF) &&
	    kind == bpf_core_enum_value(enum iter_type, ITER_UBUF)) {
		from = message->msg_iter.ubuf;
	} else if (kind == bpf_core_enum_value(enum iter_type, ITER_IOVEC)) {
		if (bpf_core_field_exists(message->msg_iter.__iov))
			pieces = BPF_CORE_READ(message, msg_iter.__iov);
		else
			pieces = BPF_CORE_READ((struct iov_iter___before_6_4 *)&message->msg_iter, iov);
		/* It is the kernel's copy of the list. */
		if (bpf_probe_read_kernel(&from, sizeof(from), &pieces->iov_base))
			return false;
	} else {
		return false;
	}
	return !bpf_probe_read_user(bytes, length, from + message->msg_iter.iov_offset);
}

/* The status of a response that begins like this; 0 if none does. */
static u16 status_in(const u8 *bytes)
{
	u32 at, status = 0;

	if (bytes[0] != 'H' || bytes[1] != 'T' || bytes[2] != 'T' || bytes[3] != 'P' || bytes[4] != '/' ||
	    bytes[5] != '1' || bytes[6] != '.' || bytes[8] != ' ')
		return 0;
	for (at = 9; at < 12; at++) {
		if (bytes[at] < '0' || bytes[at] > '9')
			return 0;
		status = status * 10 + bytes[at] - '0';
	}
	return status;
}

/* What begins like this on a connection, which may have begun before it was seen: then it may be the middle
 * of a response. */
static u8 protocol_of(struct sock *sock, const u8 *bytes)
{
	if (bytes[0] >= TLS_ALERT && bytes[0] <= TLS_DATA && bytes[1] == 3 && bytes[2] <= 4)
		return TLS;
	if (BPF_CORE_READ((struct tcp_sock *)sock, bytes_sent))
		return NOT_KNOWN;
	if (!bytes[0] && !bytes[1] && bytes[3] == HTTP2_SETTINGS)
		return HTTP2;
	return OTHER;
}

/* Some of it, or the first, is about to be taken. */
static void about_to_send(struct sock *sock, struct msghdr *message)
{
	struct sending *sending;
	u8 bytes[12] = {};
	u16 status;

	if (!is_ours(sock))
		return;
	sending = bpf_sk_storage_get(&sendings, sock, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!sending || sending->protocol > HTTP1 || sending->is_switched ||
	    !peek(message, bytes, sizeof(bytes)))
		return;
	status = status_in(bytes);
	if (status)
		sending->begins = status;
	if (sending->protocol == NOT_KNOWN) {
		sending->protocol = status ? HTTP1 : protocol_of(sock, bytes);
		sending->is_new = 1;
	}
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

/* So many requests more of a class and a status, and so many bytes of them. */
static void count(u32 class, u32 status, u64 requests, u64 bytes)
{
	struct counts *all = mine();
	u32 at = class * STATUSES + status;

	barrier_var(class);
	barrier_var(at);
	if (class >= MAX_CLASSES || at >= MAX_CLASSES * STATUSES)
		return;
	if (requests)
		__sync_fetch_and_add(&all->statuses[at], requests);
	__sync_fetch_and_add(&all->bytes[class], bytes);
}

/* What is sent is of the response that the connection is at. */
static void more(struct sending *sending, u64 bytes)
{
	u32 before = sending->class, now = class_of(sending->bytes + bytes);

	sending->bytes += bytes;
	if (now == before) {
		count(now, sending->status, 0, bytes);
		return;
	}
	count(before, sending->status, -1ULL, bytes - sending->bytes);
	sending->class = now;
	count(now, sending->status, 1, sending->bytes);
}

static void begin(struct sending *sending, u64 bytes, u16 status)
{
	u32 first = status / 100;

	sending->begins = 0;
	/* An interim response has none of its own (RFC 9110, section 15.2). */
	if ((first == 1 && status != 101) || first >= STATUSES)
		return;
	sending->is_switched = status == 101;
	sending->bytes = bytes;
	sending->class = class_of(bytes);
	sending->status = first;
	count(sending->class, first, 1, bytes);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(hw_send_counted, struct sock *sock, int bytes, int flags)
{
	struct sending *sending;
	u32 protocol;

	if (bytes <= 0 || !is_ours(sock))
		return 0;
	sending = bpf_sk_storage_get(&sendings, sock, 0, 0);
	if (!sending)
		return 0;
	protocol = sending->protocol;
	if (sending->is_new && protocol != NOT_KNOWN && protocol < PROTOCOLS) {
		sending->is_new = 0;
		__sync_fetch_and_add(&mine()->connections[protocol], 1);
	}
	if (protocol != HTTP1)
		__sync_fetch_and_add(&mine()->other_bytes, bytes);
	else if (sending->begins)
		begin(sending, bytes, sending->begins);
	else if (sending->status)
		more(sending, bytes);
	return 0;
}
