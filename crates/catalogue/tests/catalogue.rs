//! The catalogue holds what its users rely on, and the manual says what it holds.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use catalogue::page::{all, markdown};
use catalogue::{Kind, Metric, gate, load, sim, watch};

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == markdown(),
        "docs/metrics.md is old; `cargo run --package catalogue --example page > docs/metrics.md` writes the present one"
    );
}

#[test]
fn names_are_of_one_metric_each() {
    let (mut sampled, mut exposed) = (HashSet::new(), HashSet::new());
    for metric in all() {
        // The generator, the server and what is simulated have records of their own.
        if let Some(name) = metric.sampled() {
            let of = if sim::ALL.contains(&metric) { "simulated" } else { metric.viewpoint().name() };
            assert!(sampled.insert((of, name)), "{name} twice");
        }
        if let Some(name) = metric.exposed() {
            assert!(exposed.insert(name.clone()), "{name} twice");
        }
        assert!(metric.sampled().is_some() || metric.exposed().is_some(), "{metric:?}");
    }
}

/// <https://prometheus.io/docs/practices/naming/>, and what the exporters of OpenTelemetry make of units.
#[test]
fn names_say_kind_and_base_unit() {
    for metric in all() {
        let Some(name) = metric.exposed() else { continue };
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
        assert_eq!(metric.exposed_kind() == Kind::Counter, name.ends_with("_total"), "{name}");
        if metric.kind() == Kind::Histogram {
            assert!(name.ends_with("_seconds"), "{name}");
        }
        assert!(metric.help().ends_with('.') && !metric.help().contains('|'), "{name}: {}", metric.help());
    }
}

#[test]
fn a_recorded_metric_has_at_most_one_label() {
    let recorded = all().filter(|metric| metric.sampled().is_some());
    for metric in recorded {
        assert!(metric.labels().len() <= 1, "{metric}");
    }
}

#[test]
fn a_metric_has_the_names_of_its_module() {
    let exposed = |metric: Metric| metric.exposed().unwrap_or_default().into_owned();
    assert_eq!(exposed(watch::limits::PROGRAM_DISK), "headworks_watch_limits_program_disk");
    assert_eq!(watch::limits::PROGRAM_DISK.sampled(), Some("limits.program.disk"));
    assert_eq!(
        (exposed(gate::QUEUE).as_str(), gate::QUEUE.sampled()),
        ("headworks_gate_queue", Some("gate.queue"))
    );
    assert_eq!((sim::CPU.exposed(), load::recorded::LAG_P99.exposed()), (None, None));
    assert_ne!(load::CPU, sim::CPU);
}
