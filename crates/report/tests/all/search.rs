//! Reports of searches for the capacity: of an experiment of searches, and of one that stands alone.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "other tests use more of the fixture")]

use crate::fixture::search;
use record::experiment::TestState;
use record::search::{ProbeResult, SearchResult};
use report::{Document, OneSearch, SearchReport};

#[test]
fn searches_are_compared_and_shown_one_by_one() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("run");
    search::write(&directory);
    let document = Document::read(&directory).unwrap();
    let page = std::fs::read_to_string(document.write(&directory).unwrap()).unwrap();
    assert!(page.contains(r#""kind":"search""#));

    let report = SearchReport::read(&directory).unwrap();
    // What does not count is not the headline's.
    assert_eq!(report.verdict.headline, "90.0 requests/s; the limit is the number of workers (worker-limit)");
    assert_eq!(report.warnings, ["1 of 2 searches do not count; why is said with each."]);
    let fact = |label: &str| &report.method.iter().find(|fact| fact.label == label).unwrap().value;
    assert_eq!(fact("Workload"), "requests for /delay?before=20ms, each on a connection of its own");
    assert_eq!(fact("Searches"), "2: bare; server.workers 2, 6");

    // What does not count is in no figure that compares.
    let [compared] = &*report.compared else { panic!("{:?}", report.compared) };
    let [curve, published] = &*compared.curves else { panic!("{:?}", compared.curves) };
    assert_eq!(curve.points.len(), 1);
    assert_eq!((curve.points[0].x, curve.points[0].y.value), (2.0, 90.0));
    let there: Vec<(f64, f64)> = published.points.iter().map(|place| (place.x, place.y.value)).collect();
    assert_eq!((&*published.name, &*there), ("published", &[(2.0, 90.0), (6.0, 216.0)][..]));
    assert!(
        compared.caption.ends_with("if its first level were ours: a synthetic paper, figure 1."),
        "{}",
        compared.caption
    );

    let [first, second] = &*report.searches else { panic!("{:?}", report.searches) };
    assert_eq!(first.result, "90.0 requests/s (88.2 to 91.8), worker-limit");
    assert_eq!(first.evidence, ["All of worker-limit was in use."]);
    assert_eq!(first.next, ["Give it more of worker-limit."]);
    assert_eq!(
        first.order,
        [
            "Confidence that it is worker-limit: 90.0 %, from 2 probes that were more than the server keeps up with.",
            "What came to its end, and from which load on: worker-limit at 91.8/s and accept-queue at 117/s."
        ]
    );
    assert!(second.result.ends_with(", server-cpu; not valid"), "{}", second.result);
    assert_eq!(second.why, ["the generator was late"]);

    // What was not offered as it should have been is shown, and counts for nothing.
    assert!(
        first.predicted[0].ends_with("are within 5.0 % of those that were measured."),
        "{:?}",
        first.predicted
    );
    assert_eq!(first.predicted[3], "At 63.0/s: the generator was late.");
    assert_eq!(second.predicted, [""; 0]);
    figures_are_from_the_records(first);
}

fn figures_are_from_the_records(first: &OneSearch) {
    let ids: Vec<&str> = first.figures.iter().map(|figure| &*figure.id).collect();
    assert_eq!(
        ids,
        [
            "02-bare-achieved",
            "02-bare-latency",
            "02-bare-phases",
            "02-bare-used",
            "02-bare-processes",
            "02-bare-connections",
            "02-bare-predicted",
            "02-bare-predicted-lost"
        ]
    );
    let phases: Vec<f64> = first.figures[2].curves.iter().map(|curve| curve.points[0].y.value).collect();
    assert_eq!(phases, [0.001, 0.01, 0.002], "connecting, processing and transfer, from the probes' records");
    let lost: Vec<Vec<f64>> = first.figures[7]
        .curves
        .iter()
        .map(|curve| curve.points.iter().map(|point| point.y.value).collect())
        .collect();
    assert_eq!(lost, [[0.0, 0.0, 0.17], [0.0, 0.0, 0.16]], "measured and predicted");
    // Of what was seen, not of what was predicted.
    for figure in &first.figures[..6] {
        let marks: Vec<(f64, &str)> = figure.marks.iter().map(|mark| (mark.x, &*mark.name)).collect();
        assert_eq!(marks, [(1.02 * 90.0, "worker-limit"), (1.3 * 90.0, "accept-queue")], "{}", figure.id);
        assert_eq!(figure.overload, Some(90.0));
    }
    assert!(first.figures[6..].iter().all(|figure| figure.marks.is_empty() && figure.overload.is_none()));
    let used = &first.figures[3].curves[1];
    assert_eq!((&*used.name, used.points[4].y.value), ("listen queue", 1.0));
    assert!(used.points[4].note.starts_with("at its end; 40 more waited"), "{:?}", used.points[4]);
    assert!(used.points[3].note.starts_with("40 more waited"), "{:?}", used.points[3]);
    let last = |figure: usize| -> Vec<(&str, f64)> {
        let curves = first.figures[figure].curves.iter();
        curves.map(|curve| (&*curve.name, curve.points[4].y.value)).collect()
    };
    assert_eq!(last(4), [("httpd, processes", 2.0), ("httpd, threads", 50.0)]);
    assert_eq!(last(5), [("to be accepted", 3.0), ("TIME-WAIT", 40.0)]);
}

#[test]
fn two_searches_that_count_are_the_headline_s() {
    let scratch = tempfile::tempdir().unwrap();
    let mut experiment = search::write(scratch.path());
    experiment.tests.iter_mut().for_each(|test| test.state = TestState::Measured);
    experiment.save(scratch.path()).unwrap();
    let report = SearchReport::read(scratch.path()).unwrap();
    assert_eq!(report.verdict.headline, "From 90.0 to 270 requests/s");
    assert_eq!(
        report.verdict.details,
        [
            "Least with bare at server workers 2: worker-limit.",
            "Most with bare at server workers 6: server-cpu."
        ]
    );
    experiment.tests.iter_mut().for_each(|test| test.state = TestState::NotValid);
    experiment.save(scratch.path()).unwrap();
    let report = SearchReport::read(scratch.path()).unwrap();
    assert_eq!(report.verdict.headline, "No search counts; why is said with each");
}

/// Of a monitor that was killed.
#[test]
fn a_record_beside_it_that_cannot_be_read_is_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    search::write(scratch.path());
    let search = scratch.path().join("tests/02-bare/search");
    std::fs::write(search.join("watch/samples.parquet"), "PAR1").unwrap();
    let report = SearchReport::read(&search).unwrap();
    assert_eq!(report.searches[0].figures.len(), 4);
}

#[test]
fn phases_of_crowds_stand_against_what_was_varied() {
    let scratch = tempfile::tempdir().unwrap();
    search::write_crowds(scratch.path());
    let report = SearchReport::read(scratch.path()).unwrap();
    let of = |id: &str| {
        let figure = report.compared.iter().find(|figure| figure.id == id);
        figure.unwrap_or_else(|| panic!("{id}")).curves[0].points[0].y.value
    };
    assert_eq!([of("connecting"), of("processing"), of("transfer")], [0.001, 0.01, 0.002]);
    assert_eq!(of("sent-again"), 0.1);
    assert_eq!(report.compared.len(), 5);
    assert_eq!(
        report.searches[0].order[0],
        "Confidence that it is worker-limit: 90.0 %, from what the crowd got."
    );
}

/// Of a search that is less certain than it looks, at the top.
#[test]
fn what_to_beware_of_comes_first() {
    let scratch = tempfile::tempdir().unwrap();
    search::write(scratch.path());
    let directory = scratch.path().join("tests/02-bare/search");
    let mut found = SearchResult::load(&directory).unwrap();
    found.capacity.as_mut().unwrap().ci = [80.0, 110.0];
    found.ended_early = Some(50.4);
    found.probes[0].not_valid = Some("the generator was late".to_owned());
    // The same load again, by a generator that kept up.
    let again = ProbeResult { not_valid: None, achieved: 20.0, ..found.probes[0].clone() };
    found.probes[0].achieved = 3.0;
    found.probes.push(again);
    found.save(&directory).unwrap();
    let report = SearchReport::read(&directory).unwrap();
    assert!(report.verdict.headline.starts_with("Between 80.0 and 110 requests/s; "), "{:?}", report.verdict);
    assert_eq!(
        report.warnings,
        [
            "1 of 6 probes do not count: the load generator could not offer them as it should.",
            "The search ended after 50 s; it is known less well than was asked for."
        ]
    );
    let achieved = &report.searches[0].figures[0].curves[0].points[0];
    assert_eq!((achieved.y.value, &*achieved.note), (20.0, "kept up"));
}

#[test]
fn a_search_that_stands_alone_has_its_reasons_first() {
    let scratch = tempfile::tempdir().unwrap();
    search::write(scratch.path());
    let report = SearchReport::read(&scratch.path().join("tests/02-bare/search")).unwrap();
    assert_eq!(report.verdict.headline, "90.0 requests/s; the limit is the number of workers (worker-limit)");
    assert_eq!(
        report.verdict.details,
        [
            "Why: All of worker-limit was in use.",
            "What to do: Give it more of worker-limit.",
            "It could also be: accept-queue (4 %): It comes later, from 130/s on."
        ]
    );
    assert!(report.verdict.figures.is_empty());
    assert_eq!((report.searches.len(), report.searches[0].figures.len()), (1, 6));
    let said = report.table();
    assert!(said.contains("90.0 requests/s (88.2 to 91.8), worker-limit\n"), "{said}");
}
