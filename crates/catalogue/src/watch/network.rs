//! Network interfaces, as `/proc/net/dev` counts for them.

use super::AT_INTERFACE;
use crate::declare::metrics;

metrics! { sampled like AT_INTERFACE;
    RECEIVED_BYTES = "network.received_bytes", Gauge, BytesPerSecond,
        "Bytes received, headers of the link included.";
    RECEIVED_PACKETS = "network.received_packets", Gauge, PerSecond, "Packets received.";
    RECEIVED_ERRORS = "network.received_errors", Gauge, PerSecond, "Packets received with errors.";
    RECEIVED_DROPS = "network.received_drops", Gauge, PerSecond, "Received packets for which there was no room.";
    SENT_BYTES = "network.sent_bytes", Gauge, BytesPerSecond, "Bytes sent, headers of the link included.";
    SENT_PACKETS = "network.sent_packets", Gauge, PerSecond, "Packets sent.";
    SENT_ERRORS = "network.sent_errors", Gauge, PerSecond, "Packets that could not be sent because of errors.";
    SENT_DROPS = "network.sent_drops", Gauge, PerSecond, "Packets to be sent for which there was no room.";
}
