//! Requests, by class of size; what they waited for; how many could be followed.

use super::AT_SERVER;
use crate::declare::metrics;
use crate::entry::{Entry, Exposed};

/// Scrapers and collectors are told [totals](super::own) instead.
const LIKE: Entry = Entry { exposed: Exposed::No, ..AT_SERVER };
const BY_CLASS: &[&str] = &["class"];

metrics! { sampled like LIKE;
    COUNT = "requests.count", Gauge, Number, "Requests that were followed.", labels: BY_CLASS;
    RATE = "requests.rate", Gauge, PerSecond, "Requests.", labels: BY_CLASS;
    BYTES_RATE = "requests.bytes_rate", Gauge, BytesPerSecond,
        "Bytes handed to the kernel for responses, headers included.", labels: BY_CLASS;
    CONNECTIONS = "requests.connections", Gauge, PerSecond, "Connections whose first request is of the class.",
        labels: BY_CLASS;
    READS = "requests.reads", Gauge, Number, "System calls of a request that read.", labels: BY_CLASS;
    WRITES = "requests.writes", Gauge, Number, "System calls of a request that write.", labels: BY_CLASS;
    BLOCKS = "requests.blocks", Gauge, Number, "Blocks of 512 bytes read from disks for a request.",
        labels: BY_CLASS;
    BLOCKS_WRITTEN = "requests.blocks_written", Gauge, Number,
        "Blocks of 512 bytes that a request changed in files, and that go to disks later.", labels: BY_CLASS;
    CPU_USER = "requests.cpu_user", Gauge, Seconds, "Processor time of a request in user mode.",
        labels: BY_CLASS;
    CPU_KERNEL = "requests.cpu_kernel", Gauge, Seconds,
        "Processor time of a request in the kernel, without soft interrupts.", labels: BY_CLASS;
    CPU_SOFT_INTERRUPT = "requests.cpu_soft_interrupt", Gauge, Seconds,
        "Processor time of soft interrupts while the request's thread ran, for whatever they were.",
        labels: BY_CLASS;
    DISK_WAIT = "requests.disk_wait", Gauge, Seconds,
        "Time that a request's thread was asleep until a disk had answered.", labels: BY_CLASS;
    WAITS_CONNECTIONS = "waits.connections", Gauge, PerSecond,
        "Connections that were established and had a request.";
    ACCEPT_MEAN = "waits.accept.mean", Gauge, Seconds,
        "From when a connection was established to when the server accepted it, mean.";
    ACCEPT_P50 = "waits.accept.p50", Gauge, Seconds, "Wait to be accepted, median.";
    ACCEPT_P90 = "waits.accept.p90", Gauge, Seconds, "Wait to be accepted, 90th percentile.";
    ACCEPT_P99 = "waits.accept.p99", Gauge, Seconds, "Wait to be accepted, 99th percentile.";
    ACCEPT_P999 = "waits.accept.p999", Gauge, Seconds, "Wait to be accepted, 99.9th percentile.";
    ACCEPT_MAX = "waits.accept.max", Gauge, Seconds, "Wait to be accepted, longest.";
    ACCEPT_COUNT = "waits.accept.count", Gauge, Number, "Connections whose wait to be accepted was seen.";
    READ_MEAN = "waits.read.mean", Gauge, Seconds,
        "From when a request could have been read to when its first bytes were, mean.";
    READ_P50 = "waits.read.p50", Gauge, Seconds, "Wait to be read, median.";
    READ_P90 = "waits.read.p90", Gauge, Seconds, "Wait to be read, 90th percentile.";
    READ_P99 = "waits.read.p99", Gauge, Seconds, "Wait to be read, 99th percentile.";
    READ_P999 = "waits.read.p999", Gauge, Seconds, "Wait to be read, 99.9th percentile.";
    READ_MAX = "waits.read.max", Gauge, Seconds, "Wait to be read, longest.";
    READ_COUNT = "waits.read.count", Gauge, Number, "Requests whose wait to be read was seen.";
    WATCHED = "followed.watched", Gauge, Seconds, "Time in which requests that began were followed.";
    UNFINISHED = "followed.unfinished", Gauge, Number,
        "Requests that had not ended when the monitor could wait no longer.";
    UNANSWERED = "followed.unanswered", Gauge, Number, "Requests that ended without a response.";
    UNPARSED = "followed.unparsed", Gauge, Number,
        "Connections that ended before the server had parsed anything, and bytes that it could not parse.";
    LOST = "followed.lost", Gauge, Number, "Requests that were more than the monitor could take in.";
    CROWDED = "followed.crowded", Gauge, Number, "Connections that were more than can be followed at once.";
}
