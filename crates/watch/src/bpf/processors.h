/* Where a processor keeps its variables. */
#ifndef HEADWORKS_PROCESSORS_H
#define HEADWORKS_PROCESSORS_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* As in mod.rs. */
#define MAX_CPUS 512

/* Where a CPU's `runqueues` is: per-CPU variables have no address that a program could be given on kernels
 * without CONFIG_KALLSYMS_ALL, but every task's group points to the queue of each CPU. */
static inline u64 runqueue(u32 cpu)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct cfs_rq **queues = BPF_CORE_READ(task, sched_task_group, cfs_rq);
	struct cfs_rq *queue = NULL;

	if (bpf_probe_read_kernel(&queue, sizeof(queue), queues + cpu))
		return 0;
	return (u64)BPF_CORE_READ(queue, rq);
}

#endif
