/* Types of the kernel, as far as our programs use them. CO-RE finds the fields of the kernel that runs, so
 * only names and kinds have to be right, neither order nor offsets; and of a type only what is read. */
#ifndef HEADWORKS_VMLINUX_H
#define HEADWORKS_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef _Bool bool;
enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

/* kernel/sched/sched.h */
struct rq {
	unsigned int nr_running;
	u64 nr_switches;
	atomic_t nr_iowait;
	int online;
	u64 prev_irq_time;
	u64 prev_steal_time_rq;
};

struct cfs_rq {
	struct rq *rq;
};

struct task_group {
	struct cfs_rq **cfs_rq;
};

/* arch/x86/include/asm/hardirq.h */
typedef struct {
	unsigned int __nmi_count;
	unsigned int apic_timer_irqs;
	unsigned int irq_spurious_count;
	unsigned int icr_read_retry_count;
	unsigned int x86_platform_ipis;
	unsigned int apic_perf_irqs;
	unsigned int apic_irq_work_irqs;
	unsigned int irq_resched_count;
	unsigned int irq_call_count;
	unsigned int irq_thermal_count;
	unsigned int irq_threshold_count;
	unsigned int irq_deferred_error_count;
	unsigned int irq_hv_callback_count;
} irq_cpustat_t;

/* kernel/time/tick-sched.h */
struct tick_sched {
	unsigned long flags;
	s64 idle_entrytime;
	s64 idle_sleeptime;
	s64 iowait_sleeptime;
};

/* Until Linux 6.9. */
struct tick_sched___before_flags {
	unsigned int idle_active : 1;
};

/* include/linux/mm_types.h, include/linux/percpu_counter.h */
struct percpu_counter {
	s64 count;
	s32 *counters;
};

struct file;

/* Until Linux 6.2. */
struct mm_rss_stat {
	atomic64_t count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};

struct mm_struct {
	struct percpu_counter rss_stat[4];
	struct file *exe_file;
};

/* include/linux/sched.h */
struct sched_entity {
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

/* include/linux/task_io_accounting.h */
struct task_io_accounting {
	u64 read_bytes;
	u64 write_bytes;
};

/* include/linux/fs.h, include/linux/fdtable.h, include/linux/net.h */
struct sock;
struct sk_buff;
struct page;

struct socket {
	unsigned long flags;
	struct sock *sk;
};

struct inode {
	u16 i_mode;
};

struct file {
	void *private_data;
	struct inode *f_inode;
};

/* arch/x86/include/asm/ptrace.h, arch/arm64/include/asm/ptrace.h */
struct pt_regs___x86 {
	unsigned long orig_ax;
	unsigned long si;
	unsigned long dx;
};

struct pt_regs___arm64 {
	u64 regs[31];
	s32 syscallno;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	struct task_group *sched_task_group;
	struct mm_struct *mm;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	u64 start_boottime;
	unsigned long maj_flt;
	unsigned int in_iowait : 1;
	struct task_io_accounting ioac;
	struct files_struct *files;
	char comm[16];
};

/* include/linux/blk-mq.h */
struct request {
	u32 cmd_flags;
	unsigned int __data_len;
};

/* include/linux/ns_common.h, include/net/net_namespace.h */
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

/* include/net/sock.h, include/net/inet_timewait_sock.h, include/linux/tcp.h */
struct sock_common {
	possible_net_t skc_net;
	u16 skc_family;
	u16 skc_num;
	__be16 skc_dport;
	volatile unsigned char skc_state;
};

/* include/linux/uio.h, include/uapi/linux/uio.h, include/linux/socket.h */
struct iovec {
	void *iov_base;
	u64 iov_len;
};

enum iter_type { ITER_UBUF, ITER_IOVEC };

struct iov_iter {
	u8 iter_type;
	u64 iov_offset;
	u64 count;
	u64 nr_segs;
	const struct iovec *__iov;
	void *ubuf;
};

struct iov_iter___before_6_4 {
	const struct iovec *iov;
};

struct msghdr {
	struct iov_iter msg_iter;
};

struct user_msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	u64 msg_iovlen;
};

/* include/linux/tcp.h */
struct tcp_sock {
	u32 lsndtime;
	u32 write_seq;
	u32 snd_una;
	u64 bytes_sent;
	u64 bytes_acked;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u8 sk_shutdown;
	int sk_err;
	struct socket *sk_socket;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	atomic_t sk_drops;
};

/* include/uapi/linux/un.h, include/net/af_unix.h */
struct sockaddr_un {
	u16 sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
};

struct inet_timewait_sock {
	unsigned char tw_substate;
};

struct tcp_timewait_sock {
	struct inet_timewait_sock tw_sk;
};

/* kernel/bpf/task_iter.c, net/ipv4/tcp_ipv4.c */
struct bpf_iter__task {
	struct task_struct *task;
};

struct bpf_iter__tcp {
	struct sock_common *sk_common;
};

struct bpf_iter__bpf_sk_storage_map {
	struct sock *sk;
	void *value;
};

#pragma clang attribute pop

/* It lives on the stack of the program. */
struct bpf_iter_task {
	__u64 __opaque[3];
} __attribute__((aligned(8)));

#endif
