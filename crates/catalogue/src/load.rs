//! Metrics of the load generator.

use crate::Viewpoint;
use crate::declare::metrics;
use crate::entry::Entry;

const LIKE: Entry = Entry::blank(Viewpoint::Client);

metrics! { exposed like LIKE;
    INFO = "headworks_load_info", Gauge, Flag, "What is measured.", labels: &["target", "load", "version"];
    REQUESTS = "headworks_load_requests_total", Counter, Number, "Requests begun in the measuring window.";
    RESPONSES = "headworks_load_responses_total", Counter, Number, "Complete responses, by status.",
        labels: &["status"];
    ERRORS = "headworks_load_errors_total", Counter, Number, "Requests without a complete response, by kind.",
        labels: &["kind"];
    CENSORED = "headworks_load_censored_total", Counter, Number,
        "Requests cut off, whose latency is longer than recorded.";
    DONE = "headworks_load_done_total", Counter, Number,
        "Sessions completed, or without sessions responses received, inside the window.";
    BYTES = "headworks_load_bytes_total", Counter, Bytes, "Bytes of response bodies.";
    RUNNING = "headworks_load_running", Gauge, Number, "Requests under way.", sampled: "running";
    LATENCY = "headworks_load_latency_seconds", Histogram, Seconds, "Latency of requests, in all and by phase.",
        labels: &["phase"];
    CONNECTIONS_OPENED = "headworks_load_connections_opened_total", Counter, Number, "Connections established.";
    CONNECTIONS_REUSED = "headworks_load_connections_reused_total", Counter, Number,
        "Requests sent on a connection that had carried one.";
    CONNECT_TIMEOUTS = "headworks_load_connect_timeouts_total", Counter, Number,
        "Connections that did not come about in time.";
    SYN_RETRANSMITS = "headworks_load_syn_retransmits_total", Counter, Number, "SYNs sent again.";
    CONNECTIONS_OPEN = "headworks_load_connections_open", Gauge, Number, "Connections open now.",
        sampled: "connections";
    STAGE = "headworks_load_stage", Gauge, Flag, "1 for the stage of the run.", labels: &["stage"];
    ELAPSED = "headworks_load_elapsed_seconds", Gauge, Seconds, "Since the run began.";
    WINDOW = "headworks_load_window_seconds", Gauge, Seconds, "Length of the measuring window.";
    OFFERED = "headworks_load_offered_per_second", Gauge, PerSecond, "What the schedule wants now.";
    LEVEL = "headworks_load_level", Gauge, Labelled, "Where the ramp is.", labels: &["unit"];
    CPU = "headworks_load_client_cpu_ratio", Gauge, Share, "Share of a processor that the generator uses.",
        sampled: "cpu_ratio";
    LAG_P99 = "headworks_load_lag_p99_seconds", Gauge, Seconds, "How late the generator is, 99th percentile.";
    LAG_MAX = "headworks_load_lag_max_seconds", Gauge, Seconds, "How late the generator was at most.";
    VALID = "headworks_load_valid", Gauge, Flag,
        "1 when the figures so far are the server's, not the generator's.";
}

/// What only the record has: the generator second by second.
pub mod recorded {
    use super::LIKE;
    use crate::declare::metrics;

    metrics! { sampled like LIKE;
        RESPONSES = "responses_per_second", Gauge, PerSecond, "Complete responses.";
        ERRORS = "errors_per_second", Gauge, PerSecond, "Requests without a complete response.";
        CONNECTIONS_OPENED = "connections_opened_per_second", Gauge, PerSecond, "Connections established.";
        SYN_RETRANSMITS = "syn_retransmits_per_second", Gauge, PerSecond, "SYNs sent again.";
        CONNECT_TIMEOUTS = "connect_timeouts_per_second", Gauge, PerSecond,
            "Connections that did not come about in time.";
        LAG_P99 = "lag_p99_seconds", Gauge, Seconds,
            "How late the generator began what the schedule wanted since the sample before, 99th percentile.";
    }
}
