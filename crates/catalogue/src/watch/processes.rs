//! Processes of each watched program.

use super::AT_SERVER;
use crate::declare::metrics;
use crate::entry::{Entry, Exposed};

const BY_PROGRAM: Entry = Entry { labels: &["program"], ..AT_SERVER };

metrics! { sampled like BY_PROGRAM;
    CPU = "processes.cpu", Gauge, Processors, "Processors in use by all threads of the program together.",
        exposed: Exposed::Summed("headworks_watch_processes_cpu_seconds_total");
    MEMORY = "processes.memory", Gauge, Bytes,
        "Resident memory of all processes; what they share counts for each of them.";
    MAJOR_FAULTS = "processes.major_faults", Gauge, PerSecond, "Page faults that needed a disk.";
    PROCESSES = "processes.processes", Gauge, Number, "Processes.";
    THREADS = "processes.threads", Gauge, Number, "Threads of all processes.";
    RUNNING = "processes.running", Gauge, Number, "Threads that ran or waited for a processor.";
}
