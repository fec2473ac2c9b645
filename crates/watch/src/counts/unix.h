/* Connections of unix sockets, of which those are the server's that have the name of the socket that listens
 * (net/unix/af_unix.c, unix_stream_connect). What is sent is looked at where the program has it, when the
 * kernel has taken it: the call that it is in says where that is. */
#ifndef HEADWORKS_COUNTS_UNIX_H
#define HEADWORKS_COUNTS_UNIX_H

#include "pieces.h"

#define AF_UNIX 1
/* include/linux/sched.h */
#define PF_IO_WORKER 0x10
#define PF_KTHREAD 0x200000
/* include/uapi/linux/un.h: a path, and a zero behind it if there is room. */
#define MAX_PATH 108
/* What is watched, with zeros up to the end; of an abstract name the zero at its beginning is part of it. */
struct path {
	char bytes[MAX_PATH];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PORTS);
	__type(key, struct path);
	__type(value, u8);
} paths SEC(".maps");

/* As in traced.rs, by what they are given: memory, a list of pieces, or a message. */
enum { CALL_WRITE, CALL_SENDTO, CALL_WRITEV, CALL_SENDMSG, CALLS };
const volatile u32 calls[CALLS];

/* Whether a connection is one of a socket that is watched. What it needs of the stack is free again when it
 * is left. */
static __noinline bool is_at_path(const struct sock *sock)
{
	struct unix_address *address = BPF_CORE_READ((const struct unix_sock *)sock, addr);
	struct path path = {};
	u32 length;

	/* Who has connected to it has no name, most of the time. */
	if (!address)
		return false;
	length = BPF_CORE_READ(address, len) - __builtin_offsetof(struct sockaddr_un, sun_path);
	if (length > MAX_PATH)
		length = MAX_PATH;
	barrier_var(length);
	if (length > MAX_PATH || bpf_probe_read_kernel(&path, length, &address->name[0].sun_path))
		return false;
	/* A path is reached from other network namespaces as well: the connection has that of who has
	 * connected. */
	if (!path.bytes[0] && namespace && sock->__sk_common.skc_net.net->ns.inum != namespace)
		return false;
	return bpf_map_lookup_elem(&paths, &path);
}

/* The second and the third argument of the call that this thread is in, if it is one that sends what a
 * program has in its memory; CALLS if not. */
static u32 call_of(u64 *second, u64 *third)
{
	void *registers = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;
	u64 number;
	u32 at;

	/* A thread of the kernel sends for a program, whose registers say nothing of it. */
	if (bpf_get_current_task_btf()->flags & (PF_KTHREAD | PF_IO_WORKER))
		return CALLS;
	if (bpf_core_field_exists(x86->orig_ax)) {
		number = BPF_CORE_READ(x86, orig_ax);
		*second = BPF_CORE_READ(x86, si);
		*third = BPF_CORE_READ(x86, dx);
	} else if (bpf_core_field_exists(arm64->syscallno)) {
		number = BPF_CORE_READ(arm64, syscallno);
		*second = BPF_CORE_READ(arm64, regs[1]);
		*third = BPF_CORE_READ(arm64, regs[2]);
	} else {
		return CALLS;
	}
	for (at = 0; at < CALLS; at++) {
		if (calls[at] == number)
			break;
	}
	return at;
}

/* As `zero`, and not the same to the verifier, which would take all that begins with it for equal. */
u64 start;

/* Where what was sent is; false if that is not known, as of a file. */
static __noinline bool find_sent(struct pieces *pieces)
{
	struct user_msghdr message = {};
	u64 second = 0, third = 0;
	u32 call = call_of(&second, &third);
	struct iovec only = {};

	if (call == CALLS)
		return false;
	pieces->offset = start;
	if (call == CALL_WRITE || call == CALL_SENDTO) {
		pieces->only = (const u8 *)second;
		return true;
	}
	if (call == CALL_SENDMSG) {
		if (bpf_probe_read_user(&message, sizeof(message), (void *)second))
			return false;
		second = (u64)message.msg_iov;
		third = message.msg_iovlen;
	}
	if (third == 1) {
		if (bpf_probe_read_user(&only, sizeof(only), (void *)second))
			return false;
		pieces->only = only.iov_base;
		return true;
	}
	pieces->list = (const struct iovec *)second;
	pieces->is_users = true;
	return true;
}

/* A connection has taken so many bytes. */
static void has_sent(struct sock *sock, s64 bytes)
{
	struct pieces pieces = {};
	/* It may have begun before it was seen. */
	struct sender sender = {.has_sent = true};
	struct sending *sending;

	if (bytes <= 0 || !sock || sock->__sk_common.skc_family != AF_UNIX)
		return;
	sending = bpf_sk_storage_get(&sendings, sock, 0, 0);
	if (!sending) {
		if (!is_at_path(sock))
			return;
		sending = bpf_sk_storage_get(&sendings, sock, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!sending)
			return;
	}
	/* There is none of its own, as of a port. */
	sending->place = MAX_PORTS;
	if (sending->epoch != epoch)
		take_up(sending, 0, 0);
	if (!find_sent(&pieces)) {
		passed(sending, bytes);
		return;
	}
	look_at(sending, &sender, &pieces, bytes);
}

/* Since Linux 6.3; before that where there is a way to a function by its name. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(hw_unix_length, struct sock *sock, int bytes, int flags)
{
	has_sent(sock, bytes);
	return 0;
}

SEC("fexit/unix_stream_sendmsg")
int BPF_PROG(hw_unix_sent, struct socket *socket, struct msghdr *message, u64 length, int bytes)
{
	has_sent(socket->sk, bytes);
	return 0;
}

/* A file that is sent, before Linux 6.5. */
SEC("fexit/unix_stream_sendpage")
int BPF_PROG(hw_unix_page, struct socket *socket, struct page *page, int offset, u64 length, int flags,
	     int bytes)
{
	has_sent(socket->sk, bytes);
	return 0;
}

#endif
