/* The stopwatch of a thread (the paper's section 4.2): what it uses between two moments, without the time
 * that it was switched out and without soft interrupts, which serve whomever. */
#ifndef HEADWORKS_REQUESTS_STOPWATCH_H
#define HEADWORKS_REQUESTS_STOPWATCH_H

#include "state.h"

/* By processor, what was accounted for more than the scheduler has charged. The thread that runs there next
 * pays it back, not the thread that it came from: that may have done its last. */
u64 overcharged[MAX_CPUS];

/* The scheduler looks at the longest after so much time, in ns. */
#define MAX_TICK 10000000

/* Programs have run for this thread since `since`, and take `cost` besides: neither belongs to a request. */
static void followed(struct thread *thread, u64 since, u64 cost)
{
	if (!cost)
		return;
	cost += bpf_ktime_get_ns() - since;
	if (thread->in_soft)
		thread->owed_soft += cost;
	else
		thread->owed += cost;
}

/* What is left of two amounts when one has been set against the other. */
static u64 set_off(u64 *from, u64 much)
{
	u64 both = *from < much ? *from : much;

	*from -= both;
	return much - both;
}

static void spend(struct thread *thread, u64 time)
{
	if (thread->in_kernel)
		thread->used.kernel += set_off(&thread->owed, time);
	else
		thread->used.user += time;
}

/* What the hypervisor has taken so far of the processor that a task is on. The scheduler looks at least at
 * each tick, so right after the processor was given back. Kernels that do not keep it do not leave it out of
 * what they charge either. */
static u64 stolen(struct task_struct *task)
{
	if (!bpf_core_field_exists(((struct rq *)0)->prev_steal_time_rq) ||
	    !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	return task->se.cfs_rq->rq->prev_steal_time_rq;
}

/* How much has passed since the thread, which is this one, was accounted for, without what was taken from it.
 * Interrupts may come between when `now` was read and here, and account for it first. */
static u64 since(struct thread *thread, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 passed = now - thread->accounted;
	s64 less = thread->stolen, most = thread->slice;
	u64 taken = stolen(task);

	if (thread->is_off) {
		/* Not every switch is told. What it has used of this turn, the end of it will say. */
		thread->is_off = 0;
		thread->waits_for_disk = 0;
		thread->stolen = taken;
		thread->accounted = now;
		return 0;
	}
	if ((s64)passed <= 0)
		return 0;
	thread->accounted = now;
	thread->stolen = taken;
	less = taken - less;
	if (less > 0)
		passed -= less < (s64)passed ? less : passed;
	if (!thread->charged)
		return passed;
	/* It may have been switched out and in again, without either being told. */
	most = task->se.sum_exec_runtime - thread->charged + MAX_TICK - most;
	return (s64)passed < most ? passed : most > 0 ? most : 0;
}

static void account(struct thread *thread, u64 now)
{
	u64 passed = since(thread, now);

	/* Interrupts may come in between, and pay back, too. */
	volatile u64 *debt = &overcharged[bpf_get_smp_processor_id() % MAX_CPUS];
	u64 owed = *debt;

	thread->slice += passed;
	if (owed) {
		/* Not all of it: this is another request, as often as not. */
		u64 less = owed < passed / 2 ? owed : passed / 2;

		*debt = owed - less;
		passed -= less;
	}
	spend(thread, passed);
}

/* The looks at a thread in the stretch that began at `from` and has just ended; the last of them may have
 * come after that. */
static void count_looks(struct thread *thread, struct stretches *stretches, u64 from, u64 now)
{
	u16 after = thread->looked > now;

	if (thread->looked <= from)
		return;
	stretches->looks += thread->looks - after;
	stretches->crossings += thread->crossings - after;
	thread->looked = 0;
}

/* The same where a thread has just left user mode: `crossing` of it were the way here, and the way back the
 * last time, of which the kernel tells only the middle. */
static struct stretches *account_user(struct thread *thread, u64 crossing, u64 now)
{
	struct stretches *all = &stretches[bpf_get_smp_processor_id() % MAX_CPUS];
	u64 before = thread->used.user, from = thread->accounted, moved;

	account(thread, now);
	moved = thread->used.user - before;
	if ((s64)moved < 0)
		/* Some of it was taken back meanwhile. */
		moved = 0;
	all->time += moved;
	count_looks(thread, all, from, now);
	if (moved > crossing)
		moved = crossing;
	thread->used.user -= moved;
	thread->used.kernel += set_off(&thread->owed, moved);
	return all;
}

/* A soft interrupt has ended. */
static void account_soft(struct thread *thread, u64 now)
{
	u64 passed = since(thread, now);

	thread->used.soft += set_off(&thread->owed_soft, passed);
	/* Whether the kernel takes it for the thread's own time, by CONFIG_IRQ_TIME_ACCOUNTING. */
	if (!bpf_core_field_exists(((struct rq *)0)->prev_irq_time))
		thread->slice += passed;
}

/* What was accounted beyond what the scheduler has charged: as long as no request has been charged with it,
 * it is taken back. */
static void take_back(struct thread *thread, u64 much)
{
	much = set_off(&thread->used.kernel, much);
	much = set_off(&thread->used.user, much);
	overcharged[bpf_get_smp_processor_id() % MAX_CPUS] += much;
}

/* The scheduler has charged the thread for less than until now, since it looks for the next one on no
 * thread's account, and not for what the hypervisor took since it last looked; so the last part is what is
 * missing to that, and what is too much comes off the next. */
static void reconcile(struct thread *thread, struct task_struct *task)
{
	s64 missing = task->se.sum_exec_runtime - thread->charged - thread->slice;

	if (thread->charged && missing < 0)
		take_back(thread, -missing);
	else if (thread->charged)
		spend(thread, missing);
	thread->charged = task->se.sum_exec_runtime;
	thread->slice = 0;
}

/* The thread is switched in. */
static void slice_begins(struct thread *thread, struct task_struct *task, u64 now)
{
	if (!thread->is_off)
		/* The end of its last turn was not told. */
		reconcile(thread, task);
	thread->is_off = 0;
	thread->accounted = now;
	thread->stolen = stolen(task);
	/* Not zero, which would say that nothing is known yet. */
	thread->charged = task->se.sum_exec_runtime ?: 1;
	thread->slice = 0;
}

/* The thread has been switched out. */
static void slice_ends(struct thread *thread, struct task_struct *task, u64 now)
{
	if (!thread->charged)
		account(thread, now);
	reconcile(thread, task);
	thread->accounted = now;
	thread->is_off = 1;
}

static struct thread *thread_of(struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);

	return thread && thread->epoch == epoch ? thread : NULL;
}

static struct thread *this_thread(void)
{
	return thread_of(bpf_get_current_task_btf());
}

static u64 disk_bytes(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return 0;
	return BPF_CORE_READ(task, ioac.read_bytes);
}

static u64 disk_written(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->ioac.write_bytes))
		return 0;
	return BPF_CORE_READ(task, ioac.write_bytes);
}

/* A thread from now on watched, as if it were in a system call, which those that wait for something are. It
 * may run on another processor meanwhile, so that it is a thread of this epoch only when all else is in
 * place. */
static struct thread *watch(struct task_struct *task, u64 now)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!thread || thread->epoch == epoch)
		return thread;
	__builtin_memset(thread, 0, sizeof(*thread));
	thread->accounted = now;
	thread->stolen = stolen(task);
	thread->entered = now;
	thread->in_kernel = 1;
	thread->is_off = task != bpf_get_current_task_btf();
	thread->call = CALL_UNKNOWN;
	thread->disk_bytes = disk_bytes(task);
	thread->disk_written = disk_written(task);
	barrier();
	thread->epoch = epoch;
	return thread;
}

static void add(struct usage *to, struct usage *from)
{
	to->user += from->user;
	to->kernel += from->kernel;
	to->soft += from->soft;
	to->disk_wait += from->disk_wait;
	to->disk_bytes += from->disk_bytes;
	to->disk_written += from->disk_written;
	to->reads += from->reads;
	to->writes += from->writes;
	__builtin_memset(from, 0, sizeof(*from));
}

/* Charges the request with what this thread has used so far. What it used before a request could be read on
 * a fresh connection is left for it; what it used for one that is not followed belongs to no request. */
static void charge(struct thread *thread, struct connection *connection, u64 now)
{
	u64 state = connection->state;
	u64 bytes;

	account(thread, now);
	if (state == FRESH)
		return;
	bytes = disk_bytes(bpf_get_current_task_btf());
	thread->used.disk_bytes += bytes - thread->disk_bytes;
	thread->disk_bytes = bytes;
	bytes = disk_written(bpf_get_current_task_btf());
	thread->used.disk_written += bytes - thread->disk_written;
	thread->disk_written = bytes;
	if (state == RECEIVED_MORE)
		add(&connection->next_used, &thread->used);
	else if (state < RECEIVED_MORE)
		add(&connection->request.used[state], &thread->used);
	else
		__builtin_memset(&thread->used, 0, sizeof(thread->used));
}

#endif
