/* What the processes of certain programs use. The paper's `my_get_procstats`.
 *
 * A sample is one call of `sample`, which walks over all tasks and leaves what there is of each program in
 * `programs`. What tasks use is added up in `sums`, task by task, as the difference to what was added before,
 * so that a sum neither goes back when one ends or changes its name, nor jumps when one comes. */
#include "../bpf/processors.h"
#include "../bpf/tasks.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MAX_PROGRAMS 16
/* As in traced.rs. */
#define MAX_ROOTS 4096
/* Generations from a root to a process. */
#define MAX_DEPTH 16
/* include/linux/sched.h */
#define PF_EXITING 0x4
/* include/linux/mm_types_task.h: of `rss_stat`, files, anonymous memory and shared memory are resident; swap
 * entries are not. */
#define MM_FILEPAGES 0
#define MM_ANONPAGES 1
#define MM_SHMEMPAGES 3

/* What `comm` of a program's processes holds, padded with zeros. */
struct name {
	u64 halves[2];
};

const volatile u32 cpus;
const volatile u32 names;
const volatile struct name wanted[MAX_PROGRAMS];
/* A process is of a program if it descends from one of `roots`, not if it has its name. */
const volatile bool by_roots;
/* Distance of `this_cpu_off`, the offset of a CPU's variables, from `runqueues`; 0 where it is not known. */
const volatile s64 this_cpu_off_at;

/* Now. */
struct program {
	/* in pages */
	s64 resident;
	u32 processes;
	u32 threads;
	u32 running;
	u32 to_a_multiple_of_8;
};

/* Since the first sample; it only grows. */
struct sum {
	/* ns of processor time */
	u64 cpu;
	u64 faults;
};

/* What a task has been charged for. */
struct charged {
	u64 cpu;
	u64 faults;
	/* One more than its place among the programs. */
	u32 program;
};

u64 uptime_ns;
/* Of the sample before. */
u64 last_ns;
/* The process that has asked, by the number that the kernel gives it. */
u32 own_process;
u64 offsets[MAX_CPUS];
struct program programs[MAX_PROGRAMS];
struct sum sums[MAX_PROGRAMS];
bool is_first = true;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct charged);
} tasks SEC(".maps");

/* By the numbers of processes, the places of their programs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ROOTS);
	__type(key, u32);
	__type(value, u32);
} roots SEC(".maps");

static u32 program_of_root(struct task_struct *task)
{
	u32 depth, process, *program;

	for (depth = 0; task && depth < MAX_DEPTH; depth++) {
		process = BPF_CORE_READ(task, tgid);
		program = bpf_map_lookup_elem(&roots, &process);
		if (program)
			return *program;
		if (process <= 1)
			break;
		task = BPF_CORE_READ(task, real_parent);
	}
	return names;
}

/* Which of the programs a process is of, by its first thread, since others may call themselves something
 * else; `names` if of none. */
static u32 program_of(struct task_struct *leader)
{
	struct name name;
	u32 at;

	if (by_roots)
		return program_of_root(leader);
	if (bpf_probe_read_kernel(&name, sizeof(name), &leader->comm))
		return names;
	for (at = 0; at < MAX_PROGRAMS && at < names; at++) {
		if (name.halves[0] == wanted[at].halves[0] && name.halves[1] == wanted[at].halves[1])
			break;
	}
	return at;
}

/* What the CPUs keep to themselves of a counter. */
struct parts {
	u64 at;
	s64 sum;
};

static long add_part(u32 cpu, struct parts *parts)
{
	s32 part = 0;

	if (cpu >= MAX_CPUS || !offsets[cpu])
		return 1;
	bpf_probe_read_kernel(&part, sizeof(part), (void *)(parts->at + offsets[cpu]));
	parts->sum += part;
	return 0;
}

/* lib/percpu_counter.c, `__percpu_counter_sum`. */
static s64 pages(struct percpu_counter *counter)
{
	struct parts parts = {
		.at = (u64)BPF_CORE_READ(counter, counters),
		.sum = BPF_CORE_READ(counter, count),
	};

	bpf_loop(cpus, add_part, &parts, 0);
	return parts.sum;
}

static s64 resident(struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *before = (void *)mm;
	s64 sum;

	if (!mm)
		return 0;
	if (bpf_core_type_exists(struct mm_rss_stat))
		sum = BPF_CORE_READ(before, rss_stat.count[MM_FILEPAGES].counter) +
		      BPF_CORE_READ(before, rss_stat.count[MM_ANONPAGES].counter) +
		      BPF_CORE_READ(before, rss_stat.count[MM_SHMEMPAGES].counter);
	else
		sum = pages(&mm->rss_stat[MM_FILEPAGES]) + pages(&mm->rss_stat[MM_ANONPAGES]) +
		      pages(&mm->rss_stat[MM_SHMEMPAGES]);
	return sum > 0 ? sum : 0;
}

static long find_offset(u32 cpu, void *unused)
{
	u64 base;

	if (cpu >= MAX_CPUS)
		return 1;
	base = runqueue(cpu);
	if (base)
		bpf_probe_read_kernel(&offsets[cpu], sizeof(u64), (void *)(base + this_cpu_off_at));
	return 0;
}

/* Adds what a task has used since it was last charged; a second call adds nothing. */
static void charge(struct sum *sum, struct charged *charged, u64 cpu, u64 faults)
{
	u64 before = charged->cpu;

	if (cpu > before && __sync_val_compare_and_swap(&charged->cpu, before, cpu) == before)
		__sync_fetch_and_add(&sum->cpu, cpu - before);
	before = charged->faults;
	if (faults > before && __sync_val_compare_and_swap(&charged->faults, before, faults) == before)
		__sync_fetch_and_add(&sum->faults, faults - before);
}

static void visit(struct task_struct *task)
{
	u32 at = program_of(task->group_leader);
	struct charged *charged;
	struct program *program;

	if (at >= MAX_PROGRAMS || at >= names)
		return;
	charged = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (charged) {
		/* It was there before it was meant, so that what it has used is not of this time. */
		if (is_first || (by_roots && !charged->program && task->start_boottime < last_ns)) {
			charged->cpu = task->se.sum_exec_runtime;
			charged->faults = task->maj_flt;
		}
		charged->program = at + 1;
		charge(&sums[at], charged, task->se.sum_exec_runtime, task->maj_flt);
	}
	if (task->flags & PF_EXITING)
		return;
	program = &programs[at];
	program->threads++;
	program->running += task->__state == 0;
	if (task->pid == task->tgid) {
		program->processes++;
		program->resident += resident(task->mm);
	}
}

SEC("syscall")
int hw_syscall_who(void *unused)
{
	own_process = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

static void begin(void)
{
	static const struct program none;
	u32 at;

	last_ns = uptime_ns;
	uptime_ns = bpf_ktime_get_boot_ns();
	if (this_cpu_off_at && !offsets[0])
		bpf_loop(cpus, find_offset, NULL, 0);
	for (at = 0; at < MAX_PROGRAMS; at++)
		programs[at] = none;
}

/* Until Linux 6.7 a sample is a call of this, one for each task of the next, and `is_first` is false after
 * the first. */
SEC("syscall")
int hw_syscall_none(void *unused)
{
	begin();
	return 0;
}

SEC("iter/task")
int hw_iter_task(struct bpf_iter__task *found)
{
	struct task_struct *task = found->task;

	if (task)
		visit(task);
	return 0;
}

SEC("syscall")
int hw_syscall_proc(void *unused)
{
	struct bpf_iter_task walk;
	struct task_struct *task;

	begin();
	bpf_rcu_read_lock();
	bpf_iter_task_new(&walk, NULL, BPF_TASK_ITER_ALL_THREADS);
	while ((task = bpf_iter_task_next(&walk)))
		visit(task);
	bpf_iter_task_destroy(&walk);
	bpf_rcu_read_unlock();
	is_first = false;
	return 0;
}

/* kernel/exit.c, `delayed_put_task_struct`: after its parent has asked for it, so that all it has ever used
 * is known, to the last switch; until then a walk finds it. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(hw_process_free, struct task_struct *task)
{
	struct charged *charged = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct charged nothing = {};
	u32 at;

	if (is_first)
		return 0;
	/* A thread that no walk has met is known by its process's name, which outlives it. */
	at = charged ? charged->program - 1 : program_of(task->group_leader);
	if (at < MAX_PROGRAMS && at < names)
		charge(&sums[at], charged ?: &nothing, task->se.sum_exec_runtime, task->maj_flt);
	return 0;
}
