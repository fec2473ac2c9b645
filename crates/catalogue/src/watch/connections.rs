//! Connections of the watched ports, and their listen queues.

use super::AT_SERVER;
use crate::declare::metrics;
use crate::entry::Entry;

const BY_PORT: Entry = Entry { labels: &["port"], ..AT_SERVER };

metrics! { sampled like BY_PORT;
    CONNECTIONS = "connections", Gauge, Number, "Connections of all watched ports, by state as ss names it.",
        labels: &["state"];
    WAITING = "listen_queue.waiting", Gauge, Number, "Connections that wait to be accepted.";
    ROOM = "listen_queue.room", Gauge, Number, "Connections that may wait to be accepted.";
    DROPS = "listen_queue.drops", Gauge, PerSecond, "Connections for which the listen queue had no room.";
}
