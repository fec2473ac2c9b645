//! Metrics of the simulator: each is of the interval that ends at the time of its sample.

use crate::Viewpoint;
use crate::declare::metrics;
use crate::entry::Entry;

const LIKE: Entry = Entry::blank(Viewpoint::Server);

metrics! { sampled like LIKE;
    WAITING = "waiting", Gauge, Number, "Requests that waited for a thread, in the mean.";
    WAITING_MIN = "waiting_min", Gauge, Number, "Requests that waited for a thread, at least.";
    WAITING_MAX = "waiting_max", Gauge, Number, "Requests that waited for a thread, at most.";
    IN_SERVICE = "in_service", Gauge, Number, "Requests that had a thread, in the mean.";
    IN_SERVICE_MIN = "in_service_min", Gauge, Number, "Requests that had a thread, at least.";
    IN_SERVICE_MAX = "in_service_max", Gauge, Number, "Requests that had a thread, at most.";
    CPU = "cpu_ratio", Gauge, Share, "Share of the processors' time in which they worked.";
    ARRIVALS = "arrivals_per_s", Gauge, PerSecond, "Requests that arrived.";
    REJECTED = "rejected_ratio", Gauge, Share, "Share of the arrived requests that were rejected.";
    LATENCY = "latency_s", Gauge, Seconds, "Mean latency of completed requests, in all and by class.",
        labels: &["class"];
}
