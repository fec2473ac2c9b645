//! The kernel as a whole. Shares are of the time of all processors.

use super::AT_SERVER;
use crate::declare::metrics;

metrics! { sampled like AT_SERVER;
    CPU_USER = "kernel.cpu_user", Gauge, Share, "Time in user mode, at any priority, guests included.";
    CPU_SYSTEM = "kernel.cpu_system", Gauge, Share, "Time in the kernel, without interrupts.";
    CPU_INTERRUPT = "kernel.cpu_interrupt", Gauge, Share, "Time in interrupts.";
    CPU_SOFT_INTERRUPT = "kernel.cpu_soft_interrupt", Gauge, Share, "Time in soft interrupts.";
    CPU_STOLEN = "kernel.cpu_stolen", Gauge, Share, "Time taken by the hypervisor.";
    CPU_IO_WAIT = "kernel.cpu_io_wait", Gauge, Share, "Time with nothing to do but to wait for a disk.";
    CPU_IDLE = "kernel.cpu_idle", Gauge, Share, "Time with nothing to do.";
    READS = "kernel.reads", Gauge, PerSecond, "Requests to disks that read.";
    WRITES = "kernel.writes", Gauge, PerSecond, "Requests to disks that write.";
    BLOCKS_READ = "kernel.blocks_read", Gauge, PerSecond, "Blocks of 512 bytes read from disks.";
    BLOCKS_WRITTEN = "kernel.blocks_written", Gauge, PerSecond, "Blocks of 512 bytes written to disks.";
    PAGED_IN = "kernel.paged_in", Gauge, KibibytesPerSecond, "Memory paged in from disks.";
    PAGED_OUT = "kernel.paged_out", Gauge, KibibytesPerSecond, "Memory paged out to disks.";
    MAJOR_FAULTS = "kernel.major_faults", Gauge, PerSecond, "Page faults that needed a disk.";
    INTERRUPTS = "kernel.interrupts", Gauge, PerSecond, "Interrupts of all kinds.";
    NETWORK_INTERRUPTS = "kernel.network_interrupts", Gauge, PerSecond, "Interrupts of network devices.";
    DISK_INTERRUPTS = "kernel.disk_interrupts", Gauge, PerSecond, "Interrupts of disks.";
    CONTEXT_SWITCHES = "kernel.context_switches", Gauge, PerSecond, "Changes from one task to another.";
    RUN_QUEUE = "kernel.run_queue", Gauge, Number, "Tasks that run or wait for a processor.";
}
