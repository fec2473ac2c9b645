//! Files as they lie about: compressed, rotated, cut off.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use traffic::trace::{AccessLog, Reason, Times, Trace};

fn line(second: u32, url: &str) -> String {
    format!(
        "192.0.2.7 - - [26/Oct/2025:10:00:{second:02} +0000] \"GET {url} HTTP/1.1\" 200 5 \"-\" \"test\"\n"
    )
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn urls(trace: &Trace) -> Vec<&str> {
    trace.requests.iter().map(|request| &*trace.objects[request.object as usize].url).collect()
}

fn parse(log: &str) -> Trace {
    AccessLog::default().parse(Path::new("log"), log.as_bytes()).unwrap()
}

#[track_caller]
fn check_cut(log: &str, left: &[&str]) {
    let trace = parse(log);
    assert_eq!(urls(&trace), left, "{log}");
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::Cut, 1)], "{log}");
}

#[test]
fn rotated_files_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Two members, as `cat a.gz b.gz` makes them; and a name that does not say what it is.
    let oldest = [packed(&line(1, "/a")), packed(&line(2, "/b"))].concat();
    fs::write(path("access.log.2"), oldest).unwrap();
    fs::write(path("access.log.1"), line(3, "/c") + "what?\n" + line(5, "/e").trim_end()).unwrap();
    fs::write(path("access.log"), line(4, "/d")).unwrap();
    let names = ["access.log", "access.log.2", "access.log.1"].map(|name| path(name).display().to_string());
    let all = PathBuf::from(names.join(","));
    let trace = AccessLog::default().read(&all).unwrap();
    assert_eq!(urls(&trace), ["/a", "/b", "/c", "/d", "/e"]);
    let skipped = &trace.skipped;
    assert_eq!((skipped.lines, skipped.broken(), skipped.out_of_order), (6, 1, 0), "{skipped}");
    let said = skipped.to_string();
    assert!(said.contains("access.log.1, line 2: no request in quotes: what?"), "{said}");
    let (times, _) = Times::read(&all).unwrap();
    assert_eq!(times.len(), 5);
    let mut methods = 0;
    AccessLog::default().each(&all, |_| methods += 1).unwrap();
    assert_eq!(methods, 5);
    let missing = PathBuf::from(format!("{},{}", names[0], path("none").display()));
    let error = AccessLog::default().read(&missing).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("none"), "{error}");
}

#[test]
fn what_is_packed_and_cut_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log.gz");
    let whole = packed(&(0..50).map(|second| line(second, "/a")).collect::<String>());
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = AccessLog::default().read(&path).unwrap_err().to_string();
    assert!(error.ends_with("access.log.gz: its compressed data are cut off"), "{error}");
}

#[test]
fn a_last_line_that_is_cut_off_is_not_replayed() {
    let (first, last) = (line(1, "/a"), line(2, "/products/all"));
    // Wherever it is cut up to the last quote.
    for length in 1..last.trim_end().len() {
        let log = first.clone() + &last[..length];
        if !log.ends_with(' ') {
            check_cut(&log, &["/a"]);
        }
    }
    let whole = parse(&(first + last.trim_end()));
    assert_eq!((urls(&whole).len(), whole.skipped.broken()), (2, 0), "only its newline is missing");
}

#[test]
fn a_line_that_is_cut_in_the_middle_is_not_replayed() {
    let log = line(1, "/a") + "192.0.2.7 - - [26/Oct/2025:10:00:02 +0000] \"GET /prod\n" + &line(3, "/b");
    check_cut(&log, &["/a", "/b"]);
}

#[test]
fn a_first_line_that_is_cut_off_is_not_replayed() {
    let (first, second) = (line(1, "/products/all"), line(2, "/a"));
    // From the client's address on, of which nothing is used, to the status, which is behind the request.
    let from = first.find('[').unwrap() + 1;
    let to = first.find(" 200").unwrap();
    for begin in from..to {
        let log = first[begin..].to_owned() + &second;
        let trace = parse(&log);
        assert_eq!(urls(&trace), ["/a"], "{log}");
        assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::Cut, 1)], "{log}");
    }
    let epoch = |seconds: &str, url: &str| format!("{seconds} \"GET {url} HTTP/1.1\" 200\n");
    check_cut(&(epoch("700000000.500", "/old") + &epoch("1700000000.600", "/a")), &["/a"]);
    assert_eq!(parse(&(epoch("1600000000.500", "/b") + &epoch("1600000001.600", "/a"))).requests.len(), 2);
}

#[test]
fn objects_and_columns_that_are_cut_off_are_not_replayed() {
    let json = |url: &str| format!("{{\"msec\":\"1700000000.500\",\"request\":\"GET {url} HTTP/1.1\"}}\n");
    let (first, last) = (json("/a"), json("/products"));
    for length in 1..last.trim_end().len() {
        check_cut(&(first.clone() + &last[..length]), &["/a"]);
        let begin = last.trim_end().len() - length;
        check_cut(&(last[begin..].to_owned() + &first), &["/a"]);
    }
    assert_eq!(parse(&(line(1, "/b") + last.trim_end())).requests.len(), 2, "one of each format");
    assert_eq!(parse(&(first + last.trim_end())).requests.len(), 2);
    let columns = "#Fields: date time cs-method cs-uri-stem\n2023-11-14 22:13:20 GET /a\n";
    check_cut(&format!("{columns}2023-11-14 22:13:21 GET /pro"), &["/a"]);
}

#[test]
fn a_time_that_is_cut_off_is_none() {
    let times = |text: &str| Times::parse(Path::new("times"), text.as_bytes()).unwrap();
    for cut in ["17", "1700000001", "1700000001."] {
        let (times, skipped) = times(&format!("1700000000.500\n1700000000.750\n{cut}"));
        assert_eq!((times.len(), skipped.broken()), (2, 1), "{cut}");
    }
    assert_eq!(times("1700000000.500\n1700000000.750\n1700000001.250").0.len(), 3);
    let (first_cut, skipped) = times("0000.500\n1700000000.750\n1700000001.250\n");
    assert_eq!((first_cut.len(), skipped.reasons().collect::<Vec<_>>()), (2, vec![(Reason::Cut, 1)]));
    let (heading, skipped) = times("time\n0.5\n40000000\n");
    assert_eq!((heading.len(), skipped.reasons().collect::<Vec<_>>()), (2, vec![(Reason::NoTime, 1)]));
}
