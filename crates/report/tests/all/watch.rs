//! Reports of watches: the paper's tables with what was measured, alone and side by side.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "other tests use more of the fixture")]

use crate::fixture::watch;
use report::{Cell, Document, WatchReport};

/// As it is written.
fn cell(report: &WatchReport, table: &str, row: &str, column: &str) -> String {
    let table = report.tables.iter().find(|one| one.id == table).unwrap();
    let at =
        table.columns.iter().position(|one| one == column).unwrap_or_else(|| panic!("{:?}", table.columns));
    let row = table.rows.iter().find(|one| one.name == row).unwrap_or_else(|| panic!("{:?}", table.rows));
    match &row.cells[at] {
        Cell::Quantity(quantity) => quantity.to_string(),
        Cell::Text(words) => words.clone(),
        Cell::Nothing => "–".to_owned(),
    }
}

#[test]
fn one_watch_fills_the_tables() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("run");
    watch::watch(&directory, 1.0, false);
    let document = Document::read(&directory).unwrap();
    let page = std::fs::read_to_string(document.write(&directory).unwrap()).unwrap();
    assert!(page.contains(r#""kind":"watch""#));
    let report = WatchReport::read(&directory).unwrap();
    for (table, row, column, expected) in [
        ("requests", "requests", "0-50k", "95.0/s"),
        ("requests", "process, elapsed", "50k-500k", "600 µs"),
        ("kernel", "user mode", "most", "10.0 %"),
        ("kernel", "context switches", "least", "–"),
        ("processes", "memory", "apache2", "5.50 MiB"),
        ("connections", "TIME-WAIT", "mean", "20.0"),
        ("connections", "TIME-WAIT", "most", "200"),
        ("connections", "from established to accepted", "most", "6.00 ms"),
        ("demands", "processor, kernel", "0-50k", "300 µs (270 µs to 330 µs)"),
        ("overhead", "of one processor", "this watch", "1.0 %"),
    ] {
        assert_eq!(cell(&report, table, row, column), expected, "{table}, {row}");
    }
    let interfaces = report.tables.iter().find(|table| table.id == "interfaces").unwrap();
    assert_eq!(interfaces.columns, ["lo"], "of those that something uses");
    assert!(report.tables.iter().all(|table| table.id != "agreement"), "no other record was there");
    assert_eq!(
        report.verdict.headline,
        "100 requests per second, each with 400 µs of a processor; all processors were 60.0 % busy"
    );
    assert!(report.verdict.details[0].contains("75.0 % is spent in the kernel"), "{:?}", report.verdict);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let rates = &report.figures[0].charts[0].lines[0];
    assert_eq!((report.looks.len(), rates.values[0], rates.values[1]), (10, Some(100.0), Some(99.0)));
}

#[test]
fn watches_side_by_side_are_compared_and_held_against_the_load() {
    let scratch = tempfile::tempdir().unwrap();
    watch::write(scratch.path());
    let report = WatchReport::read(scratch.path()).unwrap();
    assert_eq!(cell(&report, "requests", "in user mode", "after · 0-50k"), "200 µs");
    assert_eq!(cell(&report, "kernel", "user mode", "before · over all of the time"), "10.0 %");
    assert_eq!(cell(&report, "agreement", "responses", "before · watched"), "1001");
    assert_eq!(cell(&report, "agreement", "responses", "before · load generator"), "1000");
    assert_eq!(cell(&report, "agreement", "responses", "before · difference"), "+0.10 %");
    assert!(
        report.verdict.headline.contains("2.0 times as much") || report.verdict.headline.contains("0.50")
    );
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(warning.starts_with("after: ") && warning.contains("before its time"), "{warning}");
    let table = Document::read(scratch.path()).unwrap().table();
    assert!(table.contains("before · 0-50k") && table.contains("What both ends saw"), "{table}");
}

#[test]
fn a_watch_that_was_killed_still_has_what_it_wrote() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("run");
    watch::watch(&directory, 1.0, false);
    std::fs::remove_file(directory.join("summary.json")).unwrap();
    let report = WatchReport::read(&directory).unwrap();
    assert!(report.tables.iter().any(|table| table.id == "connections"));
    assert_eq!(report.verdict.headline, "No request was followed");
}
