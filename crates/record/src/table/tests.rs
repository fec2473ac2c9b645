//! Rows that are written come back, whatever they hold.

use std::sync::Arc;

use catalogue::Viewpoint;
use units::{Span, Time};

use super::reader::TableReader;
use super::row::table;
use super::writer::TableWriter;
use crate::{RequestError, RequestRow, RunDirectory, SampleRow, SessionOutcome, SessionRow};

fn request(number: u64) -> RequestRow {
    let answered = !number.is_multiple_of(3);
    RequestRow {
        intended: Time::from_nanos(number),
        started: Time::from_nanos(number + 5),
        queued_ns: Some(Span::from_nanos(5)),
        dns_ns: Span::ZERO,
        connect_ns: Span::from_nanos(7),
        tls_ns: Span::ZERO,
        sending_ns: number.is_multiple_of(4).then_some(Span::from_nanos(13)),
        processing_ns: answered.then_some(Span::from_millis(number)),
        transfer_ns: answered.then_some(Span::from_nanos(11)),
        first_interim_ns: number.is_multiple_of(9).then_some(Span::from_nanos(3)),
        bytes: number,
        status: answered.then_some(503),
        error: (!answered).then_some(RequestError::ALL[number as usize % 6]),
        detail: (!answered).then(|| Arc::from("connection reset")),
        class: Arc::from(if number.is_multiple_of(2) { "premium" } else { "basic" }),
        session: (!number.is_multiple_of(7)).then_some(u64::MAX - number),
        connection: number / 4,
        reused: !number.is_multiple_of(4),
        syn_retransmits: u32::MAX,
        url_class: Arc::from("/burn?cpu=25ms"),
        method: number.is_multiple_of(2).then(|| Arc::from("GET")),
        server_ns: number.is_multiple_of(5).then_some(Span::from_micros(number)),
    }
}

#[test]
fn requests_come_back_from_several_groups() {
    let scratch = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(scratch.path().join("a/b")).unwrap();
    let written: Vec<RequestRow> = (0..20_000).map(request).collect();
    let mut table = run.write_requests().unwrap();
    for row in &written {
        table.push(row.clone()).unwrap();
    }
    table.finish().unwrap();
    let read: Vec<RequestRow> = run.requests().unwrap().map(Result::unwrap).collect();
    assert_eq!(read, written);
    let urls: Vec<_> = run.requested_urls().unwrap().map(Result::unwrap).collect();
    assert_eq!((urls.len(), urls[3].intended), (20_000, written[3].intended));
    assert_eq!(urls[3].url_class, written[3].url_class);
}

#[test]
fn a_writer_that_is_dropped_leaves_a_whole_file() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("samples.parquet");
    let row = SampleRow {
        time: Time::ZERO,
        host: Arc::from("here"),
        viewpoint: Viewpoint::Gate,
        metric: catalogue::gate::QUEUE.into(),
        label: Arc::from(""),
        value: 0.25,
    };
    let mut table = TableWriter::create(&path).unwrap();
    table.push(row.clone()).unwrap();
    drop(table);
    let read: Vec<SampleRow> = TableReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, [row]);
}

#[test]
fn samples_are_added_to_those_that_are_there() {
    let scratch = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(scratch.path()).unwrap();
    let row = |viewpoint, value| SampleRow {
        time: Time::ZERO,
        host: Arc::from("here"),
        viewpoint,
        metric: catalogue::gate::QUEUE.into(),
        label: Arc::from(""),
        value,
    };
    let mut table = run.write_samples().unwrap();
    table.push(row(Viewpoint::Client, 1.0)).unwrap();
    table.finish().unwrap();
    run.add_samples([row(Viewpoint::Gate, 2.0), row(Viewpoint::Gate, 3.0)]).unwrap();
    run.add_samples([]).unwrap();
    let expected = [row(Viewpoint::Client, 1.0), row(Viewpoint::Gate, 2.0), row(Viewpoint::Gate, 3.0)];
    let read = || run.samples().unwrap().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(read(), expected);
    // A generator that was killed leaves a file without an end, to which nothing can be added.
    let file = scratch.path().join("samples.parquet");
    std::fs::write(&file, "PAR1").unwrap();
    assert!(run.add_samples([row(Viewpoint::Gate, 4.0)]).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "PAR1");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);
}

#[test]
fn an_empty_table_reads_as_none() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("sessions.parquet");
    TableWriter::<SessionRow>::create(&path).unwrap().finish().unwrap();
    assert_eq!(TableReader::<SessionRow>::open(&path).unwrap().count(), 0);
}

#[test]
fn sessions_come_back_with_every_outcome() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("sessions.parquet");
    let written: Vec<SessionRow> = SessionOutcome::ALL
        .into_iter()
        .map(|outcome| SessionRow {
            session: 3,
            class: Arc::from("basic"),
            started_ns: Time::from_nanos(1),
            duration_ns: Span::from_secs(2),
            think_ns: Span::from_secs(1),
            requests: 4,
            completed: outcome == SessionOutcome::Completed,
            outcome,
        })
        .collect();
    let mut table = TableWriter::create(&path).unwrap();
    for row in &written {
        table.push(row.clone()).unwrap();
    }
    table.finish().unwrap();
    let read: Vec<SessionRow> = TableReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, written);
}

#[test]
fn a_table_of_another_kind_is_refused_with_the_column_named() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("requests.parquet");
    let mut table = TableWriter::create(&path).unwrap();
    table.push(request(1)).unwrap();
    table.finish().unwrap();
    let error = TableReader::<SessionRow>::open(&path).unwrap().next().unwrap().unwrap_err().to_string();
    assert!(error.contains("requests.parquet") && error.contains("\"started_ns\" is missing"), "{error}");
}

#[test]
fn a_file_that_is_not_parquet_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("requests.parquet");
    std::fs::write(&path, "not this").unwrap();
    let error = TableReader::<RequestRow>::open(&path).err().unwrap().to_string();
    assert!(error.contains("requests.parquet"), "{error}");
}

#[test]
fn a_column_that_may_hold_nulls_may_be_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("requests.parquet");
    let mut table = TableWriter::create(&path).unwrap();
    table.push(Older { answered: true }).unwrap();
    table.finish().unwrap();
    let read: Vec<Newer> = TableReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, [Newer { answered: true, server_ns: None }]);
}

table! {
    #[allow(unreachable_pub, reason = "rows are public")]
    pub struct Older {
        pub answered: bool,
    }
}

table! {
    #[allow(unreachable_pub, reason = "rows are public")]
    #[derive(Debug, PartialEq)]
    pub struct Newer {
        pub answered: bool,
        pub server_ns: Option<Span>,
    }
}
