//! What scrapers and collectors are told besides what is recorded: totals of requests since the start, and what
//! the monitor itself costs.

use super::AT_SERVER;
use crate::declare::metrics;
use crate::entry::Entry;

const LIKE: Entry = AT_SERVER;

/// Of requests all say which server it was.
const SERVER: &[&str] = &["server", "port"];
const BY_CLASS: &[&str] = &["server", "port", "class"];

metrics! { exposed like LIKE;
    REQUESTS = "headworks_watch_requests_total", Counter, Number,
        "Requests: every one, or, where not all can be counted, those that were followed, each for as many as its window stands for.",
        labels: BY_CLASS;
    RESPONSES = "headworks_watch_responses_total", Counter, Number,
        "Responses by the first digit of their status, where every request is counted.",
        labels: &["server", "port", "class", "status"];
    BY_PROTOCOL = "headworks_watch_protocol_connections_total", Counter, Number,
        "Connections on which something was sent, by protocol: on all but tls and other every request is counted.",
        labels: &["server", "port", "protocol"];
    RESPONSE_BYTES = "headworks_watch_response_bytes_total", Counter, Bytes,
        "Bytes that were handed to the kernel for them, headers included.", labels: BY_CLASS;
    FOLLOWED = "headworks_watch_followed_total", Counter, Number, "Requests that were followed.",
        labels: BY_CLASS;
    FOLLOWED_TIME = "headworks_watch_followed_seconds_total", Counter, Seconds,
        "Time in which requests that began were followed.", labels: SERVER;
    READS = "headworks_watch_followed_reads_total", Counter, Number,
        "System calls that read, of the requests that were followed.", labels: BY_CLASS;
    WRITES = "headworks_watch_followed_writes_total", Counter, Number,
        "System calls that write, of the requests that were followed.", labels: BY_CLASS;
    DISK_READ = "headworks_watch_followed_disk_read_bytes_total", Counter, Bytes,
        "Read from disks for the requests that were followed.", labels: BY_CLASS;
    DISK_WRITTEN = "headworks_watch_followed_disk_written_bytes_total", Counter, Bytes,
        "Changed in files, and to be written to disks, for the requests that were followed.", labels: BY_CLASS;
    DISK_WAIT = "headworks_watch_followed_disk_wait_seconds_total", Counter, Seconds,
        "Time that threads of the requests that were followed were asleep until a disk had answered.",
        labels: BY_CLASS;
    CPU = "headworks_watch_followed_cpu_seconds_total", Counter, Seconds,
        "Processor time of the requests that were followed: user, kernel, or soft_interrupt for whatever that was.",
        labels: &["server", "port", "class", "mode"];
    NOT_COUNTED = "headworks_watch_not_counted_total", Counter, Number,
        "Requests that were followed and are in no class, or might be, by reason.",
        labels: &["server", "port", "reason"];
    DURATION = "http_server_request_duration_seconds", Histogram, Seconds,
        "From when a request could be read to the last of its response, of those that were followed.",
        labels: BY_CLASS, convention: Some("http.server.request.duration");
    PHASE = "headworks_watch_phase_seconds", Histogram, Seconds,
        "Time of each phase of the requests that were followed, by clock.",
        labels: &["server", "port", "class", "phase", "clock"];
    ACCEPT_WAIT = "headworks_watch_accept_wait_seconds", Histogram, Seconds,
        "From when a connection was established to when the server accepted it.", labels: SERVER;
    READ_WAIT = "headworks_watch_read_wait_seconds", Histogram, Seconds,
        "From when a request could have been read to when its first bytes were.", labels: SERVER;
    OVERHEAD_CPU = "headworks_watch_overhead_cpu_seconds_total", Counter, Seconds,
        "Processor time that watching has used, its programs in the kernel included.";
    OVERHEAD_DUTY = "headworks_watch_overhead_duty_ratio", Gauge, Share,
        "Share of the time in which requests are followed.";
    AGE = "headworks_watch_age_seconds", Gauge, Seconds, "Since the watch began.";
}
