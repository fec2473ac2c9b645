/* What the kernel as a whole does: processors, paging, interrupts, switches, disks. The paper's
 * `my_get_kstats`.
 *
 * A sample is one call of `sample`, which leaves its result in `samples`. The counters of processors and
 * paging are the kernel's own, read where they are; interrupts and disk requests are counted here, by kind.
 */
#include "../bpf/processors.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define MAX_IRQS 16384

/* Kinds of interrupts. */
enum { OTHER, NETWORK, DISK, KINDS };

/* kernel/time/tick-sched.h */
#define TS_FLAG_IDLE_ACTIVE (1 << 2)
/* include/linux/blk_types.h */
#define REQ_OP_MASK 0xff
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1

/* include/linux/kernel_stat.h, `enum cpu_usage_stat`: what came later came at its end. */
#define TIMES 10

const volatile u32 cpus;
/* Distances of per-CPU variables from `runqueues`, in bytes. */
const volatile s64 cpustat_at;
const volatile s64 tick_at;
const volatile s64 kstat_at;
const volatile s64 vm_events_at;
/* 0 where the architecture has none. */
const volatile s64 irq_stat_at;
/* Places in `vm_event_states`. */
const volatile u32 pgpgin;
const volatile u32 pgpgout;
const volatile u32 pgmajfault;

/* Of one CPU; times in ns. */
struct cpu_sample {
	u64 times[TIMES];
	u64 idle;
	u64 iowait;
	u64 switches;
	u64 interrupts;
	u64 paged_in;
	u64 paged_out;
	u64 major_faults;
	u32 running;
	u16 is_read;
	u16 is_online;
};

/* What this program has counted since it was loaded; a line of the cache for each CPU. */
struct cpu_counts {
	u64 interrupts[KINDS];
	u64 reads;
	u64 writes;
	u64 sectors_read;
	u64 sectors_written;
	u64 to_a_line;
};

u64 uptime_ns;
u64 runqueues[MAX_CPUS];
struct cpu_sample samples[MAX_CPUS];
struct cpu_counts counts[MAX_CPUS];
u8 kinds[MAX_IRQS];

/* kernel/time/tick-sched.c, `get_cpu_sleep_time_us`: while a CPU is idle, the time since it went so is not
 * yet in either sum. */
static void read_idle(struct cpu_sample *sample, u64 base, u64 now)
{
	struct tick_sched *tick = (struct tick_sched *)(base + tick_at);
	s64 since, sleeping = 0;
	bool is_idle;

	sample->idle = BPF_CORE_READ(tick, idle_sleeptime);
	sample->iowait = BPF_CORE_READ(tick, iowait_sleeptime);
	since = BPF_CORE_READ(tick, idle_entrytime);
	if (bpf_core_field_exists(tick->flags)) {
		is_idle = BPF_CORE_READ(tick, flags) & TS_FLAG_IDLE_ACTIVE;
	} else {
		struct tick_sched___before_flags *old = (void *)tick;

		is_idle = BPF_CORE_READ_BITFIELD_PROBED(old, idle_active);
	}
	if (is_idle && (s64)now > since)
		sleeping = now - since;
	if (BPF_CORE_READ((struct rq *)base, nr_iowait.counter) > 0)
		sample->iowait += sleeping;
	else
		sample->idle += sleeping;
}

/* arch/x86/kernel/irq.c, `arch_irq_stat_cpu`: interrupts that no device makes. */
#define LOCAL(field) \
	if (bpf_core_field_exists(stat->field)) { \
		unsigned int count = 0; \
\
		bpf_core_read(&count, sizeof(count), &stat->field); \
		sum += count; \
	}

static u64 local_interrupts(u64 base)
{
	irq_cpustat_t *stat = (irq_cpustat_t *)(base + irq_stat_at);
	u64 sum = 0;

	LOCAL(__nmi_count)
	LOCAL(apic_timer_irqs)
	LOCAL(irq_spurious_count)
	LOCAL(icr_read_retry_count)
	LOCAL(x86_platform_ipis)
	LOCAL(apic_perf_irqs)
	LOCAL(apic_irq_work_irqs)
	LOCAL(irq_resched_count)
	LOCAL(irq_call_count)
	LOCAL(irq_thermal_count)
	LOCAL(irq_threshold_count)
	LOCAL(irq_deferred_error_count)
	LOCAL(irq_hv_callback_count)
	return sum;
}

static void read_cpu(struct cpu_sample *sample, u64 base, u64 now)
{
	u64 *events = (u64 *)(base + vm_events_at);

	sample->is_read =
		!bpf_probe_read_kernel(sample->times, sizeof(sample->times), (void *)(base + cpustat_at));
	sample->is_online = BPF_CORE_READ((struct rq *)base, online) != 0;
	read_idle(sample, base, now);
	sample->switches = BPF_CORE_READ((struct rq *)base, nr_switches);
	sample->running = BPF_CORE_READ((struct rq *)base, nr_running);
	/* `irqs_sum` is the first of `struct kernel_stat`. */
	bpf_probe_read_kernel(&sample->interrupts, sizeof(u64), (void *)(base + kstat_at));
	if (irq_stat_at)
		sample->interrupts += local_interrupts(base);
	bpf_probe_read_kernel(&sample->paged_in, sizeof(u64), events + pgpgin);
	bpf_probe_read_kernel(&sample->paged_out, sizeof(u64), events + pgpgout);
	bpf_probe_read_kernel(&sample->major_faults, sizeof(u64), events + pgmajfault);
}

static long read_one(u32 cpu, u64 *now)
{
	if (cpu >= MAX_CPUS)
		return 1;
	if (!runqueues[cpu])
		runqueues[cpu] = runqueue(cpu);
	if (runqueues[cpu])
		read_cpu(&samples[cpu], runqueues[cpu], *now);
	return 0;
}

SEC("syscall")
int hw_syscall_kern(void *unused)
{
	u64 now = bpf_ktime_get_ns();

	uptime_ns = bpf_ktime_get_boot_ns();
	bpf_loop(cpus, read_one, &now, 0);
	return 0;
}

/* In a form that shows the verifier of Linux 6.1 that it is within bounds. */
static struct cpu_counts *mine(void)
{
	return &counts[bpf_get_smp_processor_id() % MAX_CPUS];
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(hw_irq_entry, int irq)
{
	struct cpu_counts *count = mine();
	u64 at = (u32)irq;
	u64 kind = OTHER;

	/* Or the verifier would not see that both are within bounds. */
	barrier_var(at);
	if (at < MAX_IRQS)
		kind = kinds[at];
	barrier_var(kind);
	if (kind < KINDS)
		count->interrupts[kind]++;
	return 0;
}

/* A request may be completed in parts; with the last one it is done. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(hw_rq_complete, struct request *request, int error, unsigned int bytes)
{
	struct cpu_counts *count = mine();
	u32 operation = request->cmd_flags & REQ_OP_MASK;
	bool is_last = bytes >= request->__data_len;

	if (operation == REQ_OP_READ) {
		count->sectors_read += bytes >> 9;
		count->reads += is_last;
	} else if (operation == REQ_OP_WRITE) {
		count->sectors_written += bytes >> 9;
		count->writes += is_last;
	}
	return 0;
}
