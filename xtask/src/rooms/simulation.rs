//! The rooms of the crates that simulate a server: its load, and the server itself.

use super::room::Room;

pub(super) const TRAFFIC: &[Room] = &[
    ("mix", &[]),
    ("seed", &[]),
    ("model", &["seed"]),
    ("profile", &[]),
    ("arrivals", &["profile", "seed"]),
    ("ramp", &["profile"]),
    ("url", &[]),
    ("trace", &["url"]),
    ("schedule", &["arrivals", "mix", "profile", "seed", "trace"]),
    ("workload", &["seed", "url"]),
    ("import", &["url", "workload"]),
];

pub(super) const SIM: &[Room] = &[
    ("control", &[]),
    ("course", &[]),
    ("dynamic", &[]),
    ("draw", &["dynamic"]),
    ("front", &["draw"]),
    ("levels", &[]),
    ("mva", &[]),
    ("model", &["draw", "mva"]),
    ("exact", &["draw", "model", "mva"]),
    ("parallel", &["control"]),
    ("plan", &[]),
    ("watch", &["course", "levels"]),
    ("subject", &["model", "watch"]),
    ("engine", &["course", "draw", "front", "levels", "model", "subject", "watch"]),
    ("outcome", &["model", "plan", "subject", "watch"]),
    ("text", &["draw", "exact", "model", "outcome"]),
    ("fit", &["draw", "dynamic", "engine", "model", "text"]),
    ("sessions", &["control", "draw", "engine", "front", "model", "outcome", "parallel", "plan", "text"]),
    ("forecast", &["control", "draw", "model", "parallel", "sessions"]),
    ("warmup", &["control", "draw", "engine", "parallel", "plan", "subject"]),
    (
        "replications",
        &["control", "draw", "engine", "model", "outcome", "parallel", "plan", "subject", "warmup", "watch"],
    ),
    ("advise", &["control", "model", "outcome", "plan", "replications", "subject", "text"]),
    ("planner", &["advise", "control", "model", "plan", "replications", "text"]),
    (
        "recovery",
        &["control", "course", "draw", "engine", "model", "parallel", "plan", "subject", "text", "watch"],
    ),
    ("sweep", &["draw", "model", "outcome", "plan", "replications"]),
    ("time_series", &["control", "draw", "engine", "levels", "model", "plan", "warmup", "watch"]),
    ("recording", &["draw", "model", "outcome", "plan", "time_series"]),
];
