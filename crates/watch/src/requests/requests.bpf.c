/* What each request costs a server that has not been changed. The paper's server module (section 4.2).
 *
 * The kernel tells which thread sends and receives on which connection, when it sleeps, and when it enters
 * the kernel and leaves it. phases.h makes requests of that, stopwatch.h what they use;
 * asked.h has what is done at other times. */
#include "asked.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000

static const struct connection nothing;

static bool is_ours(const struct sock *sock)
{
	u16 family = sock->__sk_common.skc_family;

	return (family == AF_INET || family == AF_INET6) && sock->sk_protocol == IPPROTO_TCP &&
	       is_wanted(sock->__sk_common.skc_num) &&
	       (!namespace || sock->__sk_common.skc_net.net->ns.inum == namespace);
}

/* Others may look at it meanwhile, so that it is one of this epoch only when all else is in place. */
static void reset(struct connection *connection, u16 port, __be16 peer, u64 established, u64 state)
{
	u32 at = place(port);

	__builtin_memset(connection, 0, sizeof(*connection));
	connection->state = state;
	connection->serial = __sync_fetch_and_add(&serials, 1) + 1;
	connection->request.established = established;
	connection->request.ports = (u64)__builtin_bswap16(peer) << 16 | port;
	connection->is_probed = at < MAX_PORTS && probed[at];
	barrier();
	connection->epoch = epoch;
}

static struct connection *known(u64 key, u16 port, __be16 peer)
{
	struct connection *found = bpf_map_lookup_elem(&connections, &key);

	if (!found) {
		bpf_map_update_elem(&connections, &key, &nothing, BPF_NOEXIST);
		found = bpf_map_lookup_elem(&connections, &key);
	}
	if (found && found->epoch != epoch)
		reset(found, port, peer, 0, IDLE);
	return found;
}

static struct connection *known_by(const struct sock *sock)
{
	return known((u64)sock, sock->__sk_common.skc_num, sock->__sk_common.skc_dport);
}

static void established(const struct sock *sock, u64 now)
{
	struct connection *connection = known_by(sock);

	/* The memory of one that has ended may have been used again before its end was seen. */
	if (!connection)
		__sync_fetch_and_add(&crowded, 1);
	else
		reset(connection, sock->__sk_common.skc_num, sock->__sk_common.skc_dport, now, FRESH);
}

static void state_changed(const struct sock *sock, int state, u64 now)
{
	struct connection *connection;
	u64 key = (u64)sock;
	struct thread *thread;

	if (state == TCP_ESTABLISHED) {
		if (is_ours(sock))
			established(sock, now);
		return;
	}
	if (state != TCP_FIN_WAIT1 && state != TCP_LAST_ACK && state != TCP_CLOSE)
		return;
	/* Not by its port, which it has given back by the time it is closed. */
	connection = connection_of(key);
	if (!connection) {
		if (state == TCP_CLOSE)
			bpf_map_delete_elem(&connections, &key);
		return;
	}
	thread = this_thread();
	if (thread && !thread->in_soft && current_of(thread) == connection)
		charge(thread, connection, now);
	connection->is_closing = 1;
	if (state == TCP_CLOSE) {
		finish(connection, now);
		bpf_map_delete_elem(&connections, &key);
	}
}

/* A program has run since `since`, for whomever. */
static void followed_somebody(u64 since)
{
	struct thread *thread = call_cost ? this_thread() : NULL;

	if (thread)
		followed(thread, since, call_cost);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(hw_sock_state, const struct sock *sock, int before, int state)
{
	u64 now = bpf_ktime_get_ns();

	state_changed(sock, state, now);
	followed_somebody(now);
	return 0;
}

static void readable(const struct sock *sock)
{
	struct connection *connection = NULL;
	u64 now = bpf_ktime_get_ns();

	if (is_ours(sock))
		connection = known_by(sock);
	if (connection && !connection->arrived)
		connection->arrived = now;
	followed_somebody(now);
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(hw_data_ready, const struct sock *sock)
{
	readable(sock);
	return 0;
}

/* Until Linux 6.3 there is no such tracepoint, nor those for what is received and sent. */
SEC("fentry/sock_def_readable")
int BPF_PROG(hw_readable, const struct sock *sock)
{
	readable(sock);
	return 0;
}

/* include/linux/socket.h: it will be read again. */
#define MSG_PEEK 2

/* This thread turns to the connection, if it is one of ours. */
static struct connection *turn(struct sock *sock, struct thread **thread, u64 now)
{
	struct connection *connection;

	if (!is_ours(sock))
		return NULL;
	*thread = watch(bpf_get_current_task_btf(), now);
	connection = known_by(sock);
	if (!*thread || !connection)
		return NULL;
	turn_to(*thread, (u64)sock, connection, now);
	return connection;
}

static void has_received(struct sock *sock, s64 bytes, int flags)
{
	u64 now = bpf_ktime_get_ns();
	struct thread *thread = NULL;
	struct connection *connection = flags & MSG_PEEK ? NULL : turn(sock, &thread, now);

	if (connection && thread && bytes > 0)
		received(thread, connection, bytes, now);
	followed_somebody(now);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(hw_recv_length, struct sock *sock, int bytes, int flags)
{
	has_received(sock, bytes, flags);
	return 0;
}

SEC("fexit/tcp_recvmsg")
int BPF_PROG(hw_tcp_recvmsg, struct sock *sock, struct msghdr *message, u64 size, int flags, int *length,
	     int bytes)
{
	has_received(sock, bytes, flags);
	return 0;
}

static void has_sent(struct sock *sock, s64 bytes)
{
	u64 now = bpf_ktime_get_ns();
	struct thread *thread = NULL;
	struct connection *connection = turn(sock, &thread, now);

	if (connection && thread && bytes > 0)
		sent(thread, connection, bytes, now);
	followed_somebody(now);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(hw_send_length, struct sock *sock, int bytes, int flags)
{
	has_sent(sock, bytes);
	return 0;
}

SEC("fexit/tcp_sendmsg")
int BPF_PROG(hw_sendmsg_out, struct sock *sock, struct msghdr *message, u64 size, int bytes)
{
	has_sent(sock, bytes);
	return 0;
}

/* A file that is sent. */
SEC("fexit/tcp_sendpage")
int BPF_PROG(hw_sendpage_out, struct sock *sock, struct page *page, int offset, u64 size, int flags,
	     int bytes)
{
	has_sent(sock, bytes);
	return 0;
}

SEC("uprobe")
int hw_uprobe_head(void *context)
{
	struct thread *thread = this_thread();
	struct connection *connection;
	u64 now;

	if (!thread)
		return 0;
	now = bpf_ktime_get_ns();
	account_user(thread, probe_crossing, now)->probes++;
	connection = current_of(thread);
	if (connection)
		parsed(thread, connection, now);
	/* This program runs in the kernel. */
	thread->in_kernel = 1;
	followed(thread, now, probe_cost);
	account(thread, bpf_ktime_get_ns());
	thread->in_kernel = 0;
	return 0;
}

/* Before a thread waits for more, what it has used is the present request's. */
static void settle(struct thread *thread, u64 now)
{
	struct connection *connection = current_of(thread);

	if (connection && connection->state == SENT)
		charge(thread, connection, now);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(hw_sys_enter, void *registers, long number)
{
	/* First, because this program runs in the kernel as well. */
	u64 now = bpf_ktime_get_ns(), at = number;
	struct thread *thread = this_thread();

	if (!thread)
		return 0;
	account_user(thread, call_crossing, now)->calls++;
	thread->in_kernel = 1;
	thread->entered = now;
	thread->call = at < MAX_CALLS ? calls[at] : 0;
	if (thread->connection && thread->call & CALL_LEAVES)
		leave(thread, now);
	else if (thread->connection && thread->call & CALL_WAITS)
		settle(thread, now);
	thread->used.reads += !!(thread->call & CALL_READS);
	thread->used.writes += !!(thread->call & CALL_WRITES);
	followed(thread, now, call_cost);
	return 0;
}

/* When a connection was established that was not seen then: after that, nothing has been sent on it until it
 * is accepted. 0 if that cannot be known. */
static u64 established_before(struct sock *sock, u64 now)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sock;
	u32 age;

	if (!jiffy || !bpf_core_field_exists(tcp->lsndtime))
		return 0;
	age = (u32)bpf_jiffies64() - BPF_CORE_READ(tcp, lsndtime);
	return now - age * jiffy;
}

/* The connection that a call of accept(2) has given. */
static void accepted(struct thread *thread, long descriptor, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd);
	struct connection *connection;
	struct socket *socket;
	struct sock *sock;
	struct file *file;
	u16 port, family;

	if (bpf_probe_read_kernel(&file, sizeof(file), files + descriptor))
		return;
	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return;
	socket = BPF_CORE_READ(file, private_data);
	sock = BPF_CORE_READ(socket, sk);
	family = BPF_CORE_READ(sock, __sk_common.skc_family);
	port = BPF_CORE_READ(sock, __sk_common.skc_num);
	if ((family != AF_INET && family != AF_INET6) || !is_wanted(port))
		return;
	if (namespace && BPF_CORE_READ(sock, __sk_common.skc_net.net, ns.inum) != namespace)
		return;
	connection = known((u64)sock, port, BPF_CORE_READ(sock, __sk_common.skc_dport));
	if (!connection)
		return;
	connection->request.accepted = now;
	if (!connection->request.established)
		connection->request.established = established_before(sock, now);
	if (connection->state == IDLE)
		connection->state = FRESH;
	turn_to(thread, (u64)sock, connection, now);
}

static u64 number_of_call(void *registers)
{
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;

	if (bpf_core_field_exists(x86->orig_ax))
		return BPF_CORE_READ(x86, orig_ax);
	return bpf_core_field_exists(arm64->syscallno) ? BPF_CORE_READ(arm64, syscallno) : MAX_CALLS;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(hw_sys_exit, void *registers, long result)
{
	u64 now = bpf_ktime_get_ns(), at;
	struct thread *thread = this_thread();

	if (!thread)
		return 0;
	if (thread->call & CALL_UNKNOWN) {
		at = number_of_call(registers);
		thread->call = at < MAX_CALLS ? calls[at] : 0;
	}
	if (thread->call & CALL_ACCEPTS && result >= 0)
		accepted(thread, result, now);
	followed(thread, now, call_cost);
	/* Last, because this program runs in the kernel as well. */
	account(thread, bpf_ktime_get_ns());
	thread->in_kernel = 0;
	return 0;
}

/* include/uapi/linux/bpf_perf_event.h: they come first. By arch/x86/include/asm/ptrace.h, `cs`, and
 * arch/arm64/include/uapi/asm/ptrace.h, `pstate`. */
static bool is_user_mode(u64 *registers)
{
#if defined(__TARGET_ARCH_x86)
	return (registers[17] & 3) == 3;
#elif defined(__TARGET_ARCH_arm64)
	return (registers[33] & 15) == 0;
#else
	return true;
#endif
}

/* From time to time: whether what counts as user mode is. */
SEC("perf_event")
int hw_perf_event(u64 *registers)
{
	struct thread *thread = this_thread();

	if (!thread)
		return 0;
	if (thread->looked <= thread->accounted) {
		thread->looks = 0;
		thread->crossings = 0;
	}
	thread->looked = bpf_ktime_get_ns();
	thread->looks++;
	thread->crossings += !is_user_mode(registers);
	return 0;
}

static bool is_in_io(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(hw_sched_switch, bool is_preempted, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	struct thread *thread = thread_of(from);
	u64 now = bpf_ktime_get_ns();

	if (thread) {
		slice_ends(thread, from, now);
		thread->waits_for_disk = 0;
		if (!is_preempted && state) {
			if (thread->in_kernel && thread->call & (CALL_WAITS | CALL_JOINS))
				sleeps(thread);
			if (is_in_io(from))
				thread->waits_for_disk = now;
		}
	}
	thread = thread_of(to);
	if (thread) {
		slice_begins(thread, to, now);
		if (thread->waits_for_disk)
			thread->used.disk_wait += now - thread->waits_for_disk;
		thread->waits_for_disk = 0;
		/* It has the processor already. */
		followed(thread, now, call_cost);
	}
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(hw_softirq_in, unsigned int kind)
{
	struct thread *thread = this_thread();
	u64 now;

	if (thread) {
		now = bpf_ktime_get_ns();
		account(thread, now);
		thread->in_soft = 1;
		followed(thread, now, call_cost);
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(hw_softirq_out, unsigned int kind)
{
	struct thread *thread = this_thread();
	u64 now = bpf_ktime_get_ns();

	if (thread && thread->in_soft) {
		account_soft(thread, now);
		thread->in_soft = 0;
		followed(thread, now, call_cost);
	}
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(hw_task_newtask, struct task_struct *task, u64 flags)
{
	if (this_thread())
		watch(task, bpf_ktime_get_ns());
	return 0;
}
