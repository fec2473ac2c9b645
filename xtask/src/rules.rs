//! What holds in this project: the one place where it is declared.

use crate::rooms::ROOMS;
use crate::rooms::room::Room;

/// The rules that [`check`](crate::tidy::check) enforces.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Which crate may depend on which of our crates. Each edge must exist: one that nothing uses
    /// any more is an invitation to use it.
    pub edges: &'static [(&'static str, May)],
    /// Edges that tests, benchmarks and examples have besides.
    pub dev_edges: &'static [(&'static str, &'static [&'static str])],
    /// Crates that tests of any crate may use, and nothing else.
    pub dev_only: &'static [&'static str],
    /// External crates that only some of our crates may use outside their tests.
    pub owners: &'static [(&'static str, &'static [&'static str])],
    /// Crates whose code may say `unsafe`.
    pub unsafe_in: &'static [&'static str],
    /// The rooms of a crate: its top-level modules from low to high. Each edge must exist, as between crates.
    pub rooms: &'static [(&'static str, &'static [Room])],
    /// Lines of code in a file: lines that are neither blank nor comment.
    pub longest_file: usize,
    /// Lines of code in a function, its signature included.
    pub longest_function: usize,
    /// Words that no source or document contains, and what to do instead.
    pub banned_words: &'static [(&'static str, &'static str)],
    /// Phrases that no comment and no document contains.
    pub phrases: &'static [Phrase],
}

/// A phrase that comments do without.
#[derive(Debug, Clone, Copy)]
pub struct Phrase {
    /// A regular expression, in any case.
    pub pattern: &'static str,
    /// What is allowed among that which the pattern finds.
    pub except: Option<&'static str>,
    /// What to write instead.
    pub mend: &'static str,
}

/// What a crate may depend on.
#[derive(Debug, Clone, Copy)]
pub enum May {
    /// Each of these, and on no other.
    DependOn(&'static [&'static str]),
    /// All that are not for tests only.
    DependOnAll,
}

use May::{DependOn, DependOnAll};

/// The rules of Headworks.
pub const HEADWORKS: Rules = Rules {
    edges: &[
        ("units", DependOn(&[])),
        ("config", DependOn(&[])),
        ("catalogue", DependOn(&[])),
        ("telemetry", DependOn(&["catalogue"])),
        ("handoff", DependOn(&[])),
        ("http1", DependOn(&[])),
        ("trust", DependOn(&[])),
        ("stats", DependOn(&["units"])),
        ("policy", DependOn(&["units"])),
        ("traffic", DependOn(&["config", "stats", "units"])),
        ("record", DependOn(&["catalogue", "stats", "units"])),
        ("tui", DependOn(&["record", "units"])),
        ("sim", DependOn(&["catalogue", "config", "policy", "traffic", "record", "stats", "units"])),
        ("origin", DependOn(&["http1", "units"])),
        ("gate-config", DependOn(&["config", "http1", "policy", "telemetry", "units"])),
        (
            "gate",
            DependOn(&[
                "catalogue",
                "config",
                "gate-config",
                "handoff",
                "http1",
                "policy",
                "telemetry",
                "trust",
                "units",
            ]),
        ),
        (
            "load",
            DependOn(&[
                "catalogue",
                "config",
                "http1",
                "record",
                "stats",
                "telemetry",
                "traffic",
                "trust",
                "tui",
                "units",
            ]),
        ),
        ("testbed", DependOn(&["units"])),
        (
            "lab",
            DependOn(&["catalogue", "config", "http1", "record", "testbed", "traffic", "stats", "units"]),
        ),
        ("report", DependOn(&["catalogue", "record", "stats", "units"])),
        ("watch", DependOn(&["catalogue", "config", "record", "telemetry", "tui", "stats", "units"])),
        ("shim", DependOn(&["handoff"])),
        ("top", DependOn(&["tui"])),
        ("headworks", DependOnAll),
        ("bench", DependOn(&["http1", "record", "sim", "stats", "testbed"])),
        ("simulate", DependOn(&["gate", "http1"])),
        ("testkit", DependOn(&["http1", "testbed"])),
        ("xtask", DependOn(&[])),
    ],
    dev_edges: &[("config", &["units"]), ("gate", &["origin"]), ("load", &["origin"])],
    dev_only: &["testkit"],
    owners: &[
        ("anyhow", &["bench", "headworks", "simulate", "xtask"]),
        ("cel", &["gate-config"]),
        ("clap", &["bench", "headworks", "simulate"]),
        ("httparse", &["http1"]),
        ("hyper", &["gate", "simulate", "telemetry", "top"]),
        ("hyper-util", &["gate", "simulate", "telemetry", "top"]),
        ("io-uring", &["load"]),
        ("libbpf-cargo", &["watch"]),
        ("libbpf-rs", &["watch"]),
        ("mio", &["origin"]),
        ("parquet", &["record"]),
        ("perf_event", &["watch"]),
        ("procfs", &["watch", "testbed"]),
        ("ratatui", &["load", "top", "tui", "watch"]),
        ("hdrhistogram", &["stats"]),
        ("nalgebra", &["sim", "stats"]),
        ("statrs", &["sim", "stats", "traffic"]),
        ("tokio-rustls", &["gate", "load", "trust"]),
        ("tokio", &["gate", "load", "headworks", "simulate", "telemetry", "top"]),
    ],
    unsafe_in: &["handoff", "load", "shim", "watch"],
    rooms: ROOMS,
    longest_file: 400,
    longest_function: 70,
    banned_words: &[
        ("TODO", "do it, or say what is absent in the documentation"),
        ("FIXME", "mend it"),
        ("XXX", "say what is the matter"),
    ],
    phrases: &[
        Phrase {
            pattern: r"\b(nobody|whoever)\b",
            except: None,
            mend: "say who: client, upstream, operator, thread, caller",
        },
        Phrase { pattern: r"\bas above\b", except: None, mend: "say what, or name where it stands" },
        Phrase { pattern: r"\w+manyth\b", except: None, mend: "say the index, or the number of the item" },
        Phrase { pattern: r"\bwhat it works on\b", except: None, mend: "name the thing" },
        Phrase { pattern: r"\bthe same([.,;:)]|$)", except: None, mend: "say of what" },
        Phrase { pattern: r"\bis none\b", except: None, mend: "say what it is not, or what is absent" },
        Phrase {
            pattern: r"(\bthere )?\b(is|are) no \w+",
            except: Some(
                r"^there |no (longer|more|other|less|better|worse|larger|smaller|higher|lower|shorter|faster|slower|later|earlier|older|newer|wider|different)$",
            ),
            mend: "«there is no ..» for what is absent, «is not a ..» for what a thing is not",
        },
    ],
};
