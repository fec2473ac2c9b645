//! Reports of searches for the knee: of an experiment of searches, and of one that stands alone.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "other tests use more of the fixture")]

#[path = "fixture/mod.rs"]
mod fixture;
#[path = "fixture/search.rs"]
mod search;

use fixture::run;
use report::{Document, SearchReport};

#[test]
fn searches_are_compared_and_shown_one_by_one() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("run");
    search::write(&directory);
    let document = Document::read(&directory).unwrap();
    let page = std::fs::read_to_string(document.write(&directory).unwrap()).unwrap();
    assert!(page.contains(r#""kind":"search""#));

    let report = SearchReport::read(&directory).unwrap();
    assert_eq!(report.verdict.headline, "From 90.0 to 270 requests/s");
    assert_eq!(
        report.verdict.details,
        [
            "Least with bare at server workers 2: worker-limit.",
            "Most with bare at server workers 6: server-cpu."
        ]
    );
    assert_eq!(report.warnings, ["1 of 2 searches do not count; why is said with each."]);
    let fact = |label: &str| &report.method.iter().find(|fact| fact.label == label).unwrap().value;
    assert_eq!(fact("Workload"), "requests for /delay?before=20ms, each on a connection of its own");
    assert_eq!(fact("Searches"), "2: bare; server.workers 2, 6");

    // What does not count is in no figure that compares.
    let [compared] = &*report.compared else { panic!("{:?}", report.compared) };
    let [curve] = &*compared.curves else { panic!("{:?}", compared.curves) };
    assert_eq!(curve.points.len(), 1);
    assert_eq!((curve.points[0].x, curve.points[0].y.value), (2.0, 90.0));

    let [first, second] = &*report.searches else { panic!("{:?}", report.searches) };
    assert_eq!(first.result, "90.0 requests/s (88.2 to 91.8), worker-limit");
    assert_eq!(first.evidence, ["All of worker-limit was in use."]);
    assert_eq!(first.next, ["Give it more of worker-limit."]);
    assert_eq!(
        first.order,
        [
            "Confidence in worker-limit: 90.0 %.",
            "What came to its end, and from which load on: worker-limit at 91.8/s."
        ]
    );
    assert!(second.result.ends_with(", server-cpu; not valid"), "{}", second.result);
    assert_eq!(second.why, ["the generator was late"]);

    let ids: Vec<&str> = first.figures.iter().map(|figure| &*figure.id).collect();
    assert_eq!(
        ids,
        [
            "02-bare-achieved",
            "02-bare-latency",
            "02-bare-phases",
            "02-bare-used",
            "02-bare-predicted",
            "02-bare-predicted-lost"
        ]
    );
    let phases: Vec<f64> = first.figures[2].curves.iter().map(|curve| curve.points[0].y.value).collect();
    assert_eq!(phases, [0.001, 0.01, 0.002], "connecting, processing and transfer, from the probes' records");
    // What was not offered as it should have been is shown, and counts for nothing.
    assert!(
        first.predicted[0].ends_with("are within 5.0 % of those that were measured."),
        "{:?}",
        first.predicted
    );
    assert_eq!(first.predicted[3], "At 63.0/s: the generator was late.");
    assert_eq!(second.predicted, [""; 0]);
    let lost: Vec<Vec<f64>> = first.figures[5]
        .curves
        .iter()
        .map(|curve| curve.points.iter().map(|point| point.y.value).collect())
        .collect();
    assert_eq!(lost, [[0.0, 0.0, 0.17], [0.0, 0.0, 0.16]], "measured and predicted");
    let used = &first.figures[3].curves[1];
    assert_eq!((&*used.name, used.points[4].y.value), ("worker-limit", 1.0));
    assert!(used.points[4].note.contains("40 more waited"), "{:?}", used.points[4]);
}

#[test]
fn a_search_that_stands_alone_has_its_reasons_first() {
    let scratch = tempfile::tempdir().unwrap();
    search::write(scratch.path());
    let report = SearchReport::read(&scratch.path().join("tests/02-bare/search")).unwrap();
    assert_eq!(report.verdict.headline, "90.0 requests/s, and then worker-limit sets the limit");
    assert_eq!(report.verdict.details, ["All of worker-limit was in use.", "Give it more of worker-limit."]);
    assert_eq!((report.searches.len(), report.searches[0].figures.len()), (1, 4));
    let said = report.table();
    assert!(said.contains("90.0 requests/s (88.2 to 91.8), worker-limit\n"), "{said}");
}
