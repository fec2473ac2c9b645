//! What scrapers and collectors are told besides what is recorded: totals of requests since the start, and what
//! the monitor itself costs.

use super::AT_SERVER;
use crate::declare::metrics;
use crate::entry::Entry;

const LIKE: Entry = AT_SERVER;

metrics! { exposed like LIKE;
    REQUESTS = "headworks_watch_requests_total", Counter, Number,
        "Requests: every one, or, where not all can be counted, those that were followed, each for as many as its window stands for.",
        labels: &["class"];
    RESPONSES = "headworks_watch_responses_total", Counter, Number,
        "Responses by the first digit of their status, where every request is counted.", labels: &["class", "status"];
    BY_PROTOCOL = "headworks_watch_connections_total", Counter, Number,
        "Connections on which something was sent, by protocol: on all but tls and other every request is counted.", labels: &["protocol"];
    RESPONSE_BYTES = "headworks_watch_response_bytes_total", Counter, Bytes,
        "Bytes that were handed to the kernel for them, headers included.", labels: &["class"];
    FOLLOWED = "headworks_watch_followed_total", Counter, Number, "Requests that were followed.",
        labels: &["class"];
    NOT_COUNTED = "headworks_watch_not_counted_total", Counter, Number,
        "Requests that were followed and are in no class, or might be, by reason.", labels: &["reason"];
    DURATION = "http_server_request_duration_seconds", Histogram, Seconds,
        "From when a request could be read to the last of its response, of those that were followed.",
        labels: &["class"], convention: Some("http.server.request.duration");
    PHASE = "headworks_watch_phase_seconds", Histogram, Seconds,
        "Time of each phase of the requests that were followed, by clock.", labels: &["class", "phase", "clock"];
    ACCEPT_WAIT = "headworks_watch_accept_wait_seconds", Histogram, Seconds,
        "From when a connection was established to when the server accepted it.";
    OVERHEAD_CPU = "headworks_watch_overhead_cpu", Gauge, Processors,
        "Processors that watching uses, its programs in the kernel included.";
    OVERHEAD_DUTY = "headworks_watch_overhead_duty", Gauge, Share,
        "Share of the time in which requests are followed.";
    AGE = "headworks_watch_age_seconds", Gauge, Seconds, "Since the watch began.";
}
