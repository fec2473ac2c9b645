//! Metrics of the gate.

use crate::Viewpoint;
use crate::declare::metrics;
use crate::entry::Entry;

const LIKE: Entry = Entry::blank(Viewpoint::Gate);

metrics! { exposed like LIKE;
    ARRIVED = "headworks_gate_arrived_total", Counter, Number, "Requests whose class was known or found.",
        labels: &["class"];
    ADMITTED = "headworks_gate_admitted_total", Counter, Number, "Requests that joined their class queue.",
        labels: &["class"];
    HELD_BACK = "headworks_gate_held_back_total", Counter, Number, "Requests held back at least once.",
        labels: &["class"];
    DISPATCHED = "headworks_gate_dispatched_total", Counter, Number, "Requests sent to the server.",
        labels: &["class"];
    FINISHED = "headworks_gate_finished_total", Counter, Number, "Requests the server was done with.",
        labels: &["class"];
    ABORTED = "headworks_gate_aborted_total", Counter, Number, "Requests whose client went away.",
        labels: &["class"];
    REJECTED = "headworks_gate_rejected_total", Counter, Number, "Requests refused, by reason.",
        labels: &["class", "reason"];
    CLASS_QUEUE = "headworks_gate_class_queue", Gauge, Number, "Requests in the class queue.", labels: &["class"];
    CLASS_QUEUE_TARGET = "headworks_gate_class_queue_target", Gauge, Number, "Target length of the class queue.",
        labels: &["class"];
    PATIENCE = "headworks_gate_patience_seconds", Gauge, Seconds,
        "How long clients wait before they give up, as far as is known.", labels: &["class"];
    WAITING_ROOM = "headworks_gate_waiting_room", Gauge, Number,
        "Visitors in the waiting room, as far as they are expected to come.", labels: &["class"];
    WAITING_ROOM_OUTFLOW = "headworks_gate_waiting_room_outflow", Gauge, PerSecond,
        "Visitors let in, as measured lately.", labels: &["class"];
    WAITING_ROOM_LONGEST = "headworks_gate_waiting_room_longest_seconds", Gauge, Seconds,
        "For how long the first in the waiting room has waited.", labels: &["class"];
    ADMISSION = "headworks_gate_admission_probability", Gauge, Share, "Probability of admission.",
        labels: &["class", "session"];
    ADMITS_SESSIONS = "headworks_gate_admits_sessions", Gauge, Number,
        "1 while sessions are admitted, rather than requests.", labels: &["class"];
    SESSION_REQUESTS = "headworks_gate_session_requests", Gauge, Number,
        "Requests of a session on average, as soon as that is known.", labels: &["class"];
    SESSION_STARTS = "headworks_gate_session_starts", Gauge, Number,
        "Sessions per second that begin, or would, without those of clients that ask again.", labels: &["class"];
    QUEUE = "headworks_gate_queue", Gauge, Number, "Requests waiting, by stage.", labels: &["stage"],
        sampled: "gate.queue";
    IN_SERVICE = "headworks_gate_in_service", Gauge, Number, "Requests inside the server.",
        sampled: "gate.in_service";
    STREAMING = "headworks_gate_streaming", Gauge, Number,
        "Requests that the server has and does nothing for, which hold no place: streamed responses, slow uploads.",
        sampled: "gate.streaming";
    STREAMS_TURNED_AWAY = "headworks_gate_streams_turned_away_total", Counter, Number,
        "Responses that would have gone on without a place, and that there was no room for.";
    WINDOW = "headworks_gate_window", Gauge, Number, "Requests that may be inside the server.",
        sampled: "gate.window";
    EXPRESS = "headworks_gate_express", Gauge, Number,
        "Places on top of the window that only important classes may take.";
    LOOK_AHEAD = "headworks_gate_look_ahead", Gauge, Number, "Requests scanned for important ones, k.";
    QUOTA = "headworks_gate_quota", Gauge, Number, "Requests processed per cycle, m.";
    CAPACITY = "headworks_gate_capacity", Gauge, PerSecond,
        "Requests that the server can do, as learnt; absent until that is known.";
    PRESSURE = "headworks_gate_pressure", Gauge, Share, "Use of the scarcest resource, 0 to 1.";
    KNOB = "headworks_gate_knob", Gauge, Share, "The operator's knobs, 0 to 1.", labels: &["knob"];
    REQUEST = "headworks_gate_request_seconds", Histogram, Seconds,
        "Time of dispatched requests, by stage: in each queue, waiting in the gate in all, inside the server, total.",
        labels: &["class", "stage"];
    UPSTREAM_FAILURES = "headworks_gate_upstream_failures_total", Counter, Number,
        "Requests without a response, by kind.", labels: &["kind"];
    UPSTREAM_CONNECTIONS = "headworks_gate_upstream_connections_total", Counter, Number,
        "Connections opened to the upstream.";
    UPSTREAM_REUSES = "headworks_gate_upstream_reuses_total", Counter, Number,
        "Requests sent over an open connection.";
    CONNECTIONS = "headworks_gate_connections", Gauge, Number, "Connections open.", labels: &["side"];
    UPSTREAM_CONNECTIONS_FREE = "headworks_gate_upstream_connections_free", Gauge, Number,
        "Connections to the upstream without a request.";
    ATTACHED_CONNECTIONS = "headworks_gate_attached_connections_total", Counter, Number,
        "Connections of the server that the gate is attached to, by who accepted them.", labels: &["by"];
    CONNECTIONS_LIMIT = "headworks_gate_connections_limit", Gauge, Number, "Connections that may be open.";
    DESCRIPTORS_LIMIT = "headworks_gate_descriptors_limit", Gauge, Number, "Descriptors the process may have.";
    SESSIONS_RAISED = "headworks_gate_sessions_raised_total", Counter, Number,
        "Sessions raised to a higher class, by what.", labels: &["by"];
    MALFORMED = "headworks_gate_malformed_total", Counter, Number,
        "Requests refused for how they are written, by reason.", labels: &["reason"];
    ACCEPT_FAILURES = "headworks_gate_accept_failures_total", Counter, Number,
        "Connections the kernel could not give.";
    HTTP2_STREAMS = "headworks_gate_http2_streams", Gauge, Number,
        "Open streams of clients' HTTP/2 connections.";
    HTTP2_REFUSED_STREAMS = "headworks_gate_http2_refused_streams_total", Counter, Number,
        "Streams beyond the limit of all connections.";
    HTTP2_UNSENT = "headworks_gate_http2_unsent_bytes", Gauge, Bytes,
        "Of responses, what clients of HTTP/2 have not taken.";
    TLS_HANDSHAKES = "headworks_gate_tls_handshakes_total", Counter, Number,
        "TLS handshakes, by what came of them.", labels: &["result"];
    SERVER_UP = "headworks_gate_server_up", Gauge, Flag, "Whether a server gets requests.", labels: &["server"];
    SERVER_OUTSTANDING = "headworks_gate_server_outstanding", Gauge, Number,
        "Requests that a server has not answered to the end.", labels: &["server"];
    SERVER_REQUESTS = "headworks_gate_server_requests_total", Counter, Number, "Requests sent to a server.",
        labels: &["server"];
    SERVER_FAILURES = "headworks_gate_server_failures_total", Counter, Number, "Requests that a server failed.",
        labels: &["server"];
    SERVER_EJECTIONS = "headworks_gate_server_ejections_total", Counter, Number,
        "Times that a server was ejected.", labels: &["server"];
    SERVER_CHECKS = "headworks_gate_server_checks_total", Counter, Number, "Checks of a server, by result.",
        labels: &["server", "result"];
    RETRIES = "headworks_gate_retries_total", Counter, Number,
        "Requests to be sent once more, by what the budget said.", labels: &["result"];
    LAST_RESORT = "headworks_gate_last_resort_total", Counter, Number,
        "Requests sent although no server was up.";
    LOOK_UP_FAILURES = "headworks_gate_look_up_failures_total", Counter, Number,
        "Times that a server's name led nowhere.";
    TUNNELS = "headworks_gate_tunnels", Gauge, Number, "Tunnels open or asked for.";
    TUNNELS_ASKED = "headworks_gate_tunnels_total", Counter, Number,
        "Tunnels, by what became of the request for them.", labels: &["result"];
    TUNNEL_BYTES = "headworks_gate_tunnel_bytes_total", Counter, Bytes, "Bytes through tunnels, by direction.",
        labels: &["direction"];
    RELOADS = "headworks_gate_reloads_total", Counter, Number,
        "Times that the configuration was read again, by result.", labels: &["result"];
    DRAINING = "headworks_gate_draining", Gauge, Flag, "Whether clients are sent elsewhere.";
    SHADOW = "headworks_gate_shadow", Gauge, Flag, "Whether it lets everything through, and only counts what it would do.";
    LOG_LINES = "headworks_gate_log_lines_total", Counter, Number,
        "Lines of the access log, by what became of them.", labels: &["result"];
    TELEMETRY = "headworks_gate_telemetry_total", Counter, Number,
        "Requests to the collector, by what became of them.", labels: &["result"];
}
