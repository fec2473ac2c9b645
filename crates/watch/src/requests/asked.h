/* Programs that run when they are asked, not when something happens. */
#ifndef HEADWORKS_REQUESTS_ASKED_H
#define HEADWORKS_REQUESTS_ASKED_H

#include "phases.h"

static u64 executable(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, mm, exe_file, f_inode);
}

/* One process of the server. */
u32 server;
u64 server_executable;

/* Watches all threads of all processes that run what `server` runs: those that wait for a connection now
 * would otherwise be known only after they have accepted it. */
SEC("syscall")
int hw_syscall_join(void *unused)
{
	u64 now = bpf_ktime_get_ns();
	struct bpf_iter_task walk;
	struct task_struct *task;

	server_executable = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&walk, NULL, BPF_TASK_ITER_ALL_PROCS);
	while ((task = bpf_iter_task_next(&walk))) {
		if (task->pid == server)
			server_executable = executable(task);
	}
	bpf_iter_task_destroy(&walk);
	bpf_iter_task_new(&walk, NULL, BPF_TASK_ITER_ALL_THREADS);
	while ((task = bpf_iter_task_next(&walk))) {
		if (server_executable && executable(task) == server_executable)
			watch(task, now);
	}
	bpf_iter_task_destroy(&walk);
	bpf_rcu_read_unlock();
	return 0;
}

/* Until Linux 6.7: called for each task, at first to find `server`, then to watch what runs the same. */
bool finds_server;

SEC("iter/task")
int hw_task_join(struct bpf_iter__task *found)
{
	struct task_struct *task = found->task;

	if (!task)
		return 0;
	if (finds_server) {
		if (task->pid == server)
			server_executable = executable(task);
	} else if (server_executable && executable(task) == server_executable) {
		watch(task, bpf_ktime_get_ns());
	}
	return 0;
}

/* Says how much time this thread has spent in what counts as user mode since it asked before. */
SEC("syscall")
int hw_syscall_ask(void *unused)
{
	struct thread *thread = watch(bpf_get_current_task_btf(), bpf_ktime_get_ns());

	if (!thread)
		return 0;
	own_user = thread->used.user;
	__builtin_memset(&thread->used, 0, sizeof(thread->used));
	return 0;
}

/* Both clocks, in ns and jiffies. */
u64 clock_ns;
u64 clock_jiffies;

SEC("syscall")
int hw_syscall_time(void *unused)
{
	clock_ns = bpf_ktime_get_ns();
	clock_jiffies = bpf_jiffies64();
	return 0;
}

static long forget_one(void *map, u64 *key, struct connection *connection, void *unused)
{
	bpf_map_delete_elem(map, key);
	return 0;
}

/* Forgets all connections: their ends will not be seen. */
SEC("syscall")
int hw_syscall_drop(void *unused)
{
	bpf_for_each_map_elem(&connections, forget_one, NULL, 0);
	return 0;
}

/* Requests that were begun and have not ended, and for how long nothing has happened on those that have. */
u64 unfinished;
u64 quiet_for;

/* include/linux/net.h: there was no room for all that was to be sent. */
#define SOCK_NOSPACE 2

static bool is_blocked(u64 key)
{
	unsigned long flags = BPF_CORE_READ((struct sock *)key, sk_socket, flags);

	return flags & 1 << SOCK_NOSPACE;
}

static long visit(void *map, u64 *key, struct connection *connection, u64 *now)
{
	if (connection->epoch != epoch || connection->state >= PARTS)
		return 0;
	/* A thread that has sent something and been ready for something else since for longer than it ever
	 * paused within a response has sent all of it, as far as can be told. */
	if (connection->state == SENT && connection->request.ended &&
	    *now - connection->request.ended > quiet_for && !is_blocked(*key))
		finish(connection, *now);
	else
		unfinished++;
	return 0;
}

/* Tells the requests that have ended as far as can be seen, and counts those that have not. */
SEC("syscall")
int hw_syscall_scan(void *unused)
{
	u64 now = bpf_ktime_get_ns();

	unfinished = 0;
	bpf_for_each_map_elem(&connections, visit, &now, 0);
	return 0;
}

#endif
