/* Responses inside TLS, as a server that is written in Go gives them to its package. */
#ifndef HEADWORKS_COUNTS_GO_H
#define HEADWORKS_COUNTS_GO_H

#include "tls.h"

#define MAX_DESCRIPTORS (1 << 20)
/* include/uapi/linux/stat.h, include/net/tcp_states.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define TCP_LISTEN 10

/* Go hands arguments over in other registers (its ABIInternal). */
static u64 argument_of_go(const u64 *registers, u32 at)
{
#if defined(__TARGET_ARCH_x86)
	return at == 0 ? registers[10] : at == 1 ? registers[5] : registers[11];
#else
	return argument(registers, at);
#endif
}

/* No address of a socket. */
#define ELSEWHERE 1

/* The socket of a descriptor of this process, if that is a connection of a wanted port; ELSEWHERE if it is of
 * another; 0 else. */
static u64 socket_of_descriptor(u32 descriptor)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd);
	struct socket *socket;
	struct file *file = NULL;
	struct sock *sock;
	u32 at;
	u16 port;

	if (descriptor >= MAX_DESCRIPTORS || bpf_probe_read_kernel(&file, sizeof(file), files + descriptor) ||
	    !file)
		return 0;
	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sock = BPF_CORE_READ(socket, sk);
	if (BPF_CORE_READ(sock, __sk_common.skc_state) == TCP_LISTEN)
		return 0;
	if (namespace && BPF_CORE_READ(sock, __sk_common.skc_net.net, ns.inum) != namespace)
		return ELSEWHERE;
	port = BPF_CORE_READ(sock, __sk_common.skc_num);
	for (at = 0; at < MAX_PORTS && at < ports; at++) {
		if (wanted[at] == port)
			return (u64)sock;
	}
	return ELSEWHERE;
}

static u64 word_at(u64 address)
{
	u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* The socket behind a `tls.Conn` of Go. It begins with an interface, `net.Conn`, whose second word points to
 * a `net.TCPConn`, or to something that begins with such an interface itself. A `net.TCPConn` points to a
 * `netFD`, which begins with a mutex of 16 bytes, before the descriptor (net/fd_posix.go,
 * internal/poll/fd_unix.go). */
static u64 socket_of_go(u64 conn)
{
	u64 inner = word_at(conn + 8), socket;
	u32 depth;

	for (depth = 0; depth < 4; depth++) {
		if (!inner)
			return 0;
		socket = socket_of_descriptor(word_at(word_at(inner) + 16));
		if (socket)
			return socket;
		inner = word_at(inner + 8);
	}
	return 0;
}

/* crypto/tls.(*Conn).Write(session, from, length): sends before it returns, on this thread or on another. A
 * function of Go may be begun twice, when its stack has to grow. */
SEC("uprobe")
int hw_uprobe_go_wr(u64 *registers)
{
	u64 conn = argument_of_go(registers, 0), from = argument_of_go(registers, 1),
	    length = argument_of_go(registers, 2);
	struct session_key key = key_of(conn);
	struct session *session = known(&key);
	u64 socket;

	if (!session || session->is_client)
		return 0;
	session->is_of_go = true;
	if (!session->socket && session->has_shaken)
		return 0;
	if (!session->socket) {
		socket = socket_of_go(conn);
		if (socket == ELSEWHERE) {
			session->has_shaken = true;
			return 0;
		}
		session->socket = socket;
		if (socket)
			bpf_map_update_elem(&of_sockets, &socket, &key, BPF_ANY);
	}
	if (!session->socket) {
		/* The next socket that this thread sends on will be it. */
		turn_to(&key, from, length);
		return 0;
	}
	if (from == session->from && from + length == session->to && !session->has_sent)
		return 0;
	wrote(session, from, length);
	return 0;
}

/* crypto/tls.(*Conn).serverHandshake(session) */
SEC("uprobe")
int hw_uprobe_go_in(u64 *registers)
{
	struct session_key key = key_of(argument_of_go(registers, 0));

	begun(&key);
	return 0;
}

/* crypto/tls.(*Conn).clientHandshake(session) */
SEC("uprobe")
int hw_uprobe_go_cl(u64 *registers)
{
	struct session_key key = key_of(argument_of_go(registers, 0));

	begun_by_client(&key);
	return 0;
}

#endif
