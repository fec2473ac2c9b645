//! The rooms inside each crate, from low to high, and which lower ones each may import from.
//!
//! A room is a top-level module, a folder or a file. `cargo xtask rooms CRATE` prints what a crate has.

/// A top-level module of a crate and the lower ones that it may import from.
pub type Room = (&'static str, &'static [&'static str]);

/// The rooms of the crates that have several folders.
pub const ROOMS: &[(&str, &[Room])] = &[
    (
        "load",
        &[
            ("error", &[]),
            ("names", &[]),
            ("engine", &["names"]),
            ("measure", &[]),
            ("settings", &["engine", "measure", "names"]),
            ("client", &["engine", "error", "measure", "settings"]),
            ("schedule", &["client", "engine", "measure", "settings"]),
            ("show", &["measure", "settings"]),
            ("run", &["client", "engine", "error", "measure", "schedule", "settings", "show"]),
        ],
    ),
    (
        "watch",
        &[
            ("clock", &[]),
            ("error", &[]),
            ("groups", &[]),
            ("overhead", &[]),
            ("bpf", &["error"]),
            ("source", &["error"]),
            ("choice", &["error", "source"]),
            ("connections", &["bpf", "clock", "error", "source"]),
            ("costs", &["clock", "error", "source"]),
            ("kernel", &["bpf", "clock", "error", "source"]),
            ("network", &["clock", "error", "source"]),
            ("processes", &["bpf", "clock", "error", "source"]),
            ("limits", &["clock", "error", "processes", "source"]),
            ("requests", &["bpf", "clock", "connections", "error", "processes"]),
            ("doctor", &["bpf", "connections", "error", "kernel", "processes", "requests"]),
            ("settings", &["connections", "groups", "processes", "requests"]),
            ("summary", &["connections", "kernel", "limits", "network", "processes", "requests"]),
            ("figures", &["limits", "summary"]),
            (
                "monitor",
                &[
                    "choice",
                    "clock",
                    "connections",
                    "error",
                    "groups",
                    "kernel",
                    "limits",
                    "network",
                    "processes",
                    "source",
                    "summary",
                ],
            ),
            ("snapshot", &["overhead", "requests", "summary"]),
            ("table", &["kernel", "requests", "summary"]),
            ("recording", &["figures", "requests", "summary"]),
            ("show", &["kernel", "requests", "snapshot"]),
            (
                "session",
                &[
                    "choice",
                    "clock",
                    "costs",
                    "error",
                    "groups",
                    "monitor",
                    "overhead",
                    "processes",
                    "recording",
                    "requests",
                    "snapshot",
                    "summary",
                ],
            ),
        ],
    ),
];
