/* Connections of certain ports by state, and what waits in their listen queues. The paper's
 * `my_get_connstats`.
 *
 * A sample is one walk over the kernel's table of connections, which leaves its result in `ports`. */
#include "../bpf/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MAX_PORTS 16
/* include/net/tcp_states.h */
#define STATES 13
#define TCP_TIME_WAIT 6
#define TCP_LISTEN 10

const volatile u16 wanted[MAX_PORTS];
const volatile u32 count;

struct port {
	u64 states[STATES];
	/* Of all listening sockets of the port. */
	u32 waiting;
	u32 room;
	u64 drops;
};

struct port ports[MAX_PORTS];

SEC("iter/tcp")
int hw_iter_tcp(struct bpf_iter__tcp *found)
{
	struct sock_common *common = found->sk_common;
	struct tcp_timewait_sock *timewait;
	struct tcp_sock *full;
	struct sock *sock;
	struct port *port;
	u64 state;
	u32 at;

	if (!common)
		return 0;
	for (at = 0; at < MAX_PORTS && at < count; at++) {
		if (wanted[at] == common->skc_num)
			break;
	}
	if (at >= MAX_PORTS || at >= count)
		return 0;
	port = &ports[at];
	state = common->skc_state;
	/* The kernel keeps those that wait for the other side to close in the same small form as those in
	 * TIME_WAIT. */
	if (state == TCP_TIME_WAIT) {
		timewait = bpf_skc_to_tcp_timewait_sock(common);
		if (timewait)
			state = timewait->tw_sk.tw_substate;
	}
	barrier_var(state);
	if (state < STATES)
		port->states[state]++;
	if (state != TCP_LISTEN)
		return 0;
	full = bpf_skc_to_tcp_sock(common);
	if (full) {
		sock = (struct sock *)full;
		port->waiting += BPF_CORE_READ(sock, sk_ack_backlog);
		port->room += BPF_CORE_READ(sock, sk_max_ack_backlog);
		port->drops += BPF_CORE_READ(sock, sk_drops.counter);
	}
	return 0;
}
