/* Walks over all tasks, and what is kept of each. Since Linux 6.7 a program can walk by itself; the kernel
 * before calls one for each task (`iter/task`), and has none of these functions. */
#ifndef HEADWORKS_TASKS_H
#define HEADWORKS_TASKS_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* include/uapi/linux/bpf.h */
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_F_NO_PREALLOC 1
/* kernel/bpf/task_iter.c */
#define BPF_TASK_ITER_ALL_PROCS 0
#define BPF_TASK_ITER_ALL_THREADS 1

extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

#endif
