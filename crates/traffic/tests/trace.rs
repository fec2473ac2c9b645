//! Access logs, whole and broken.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::Path;

use proptest::prelude::*;
use traffic::trace::{AccessLog, Error, Method, Reason, Resolution, Times, Trace};
use units::{Rate, Span, Time};

fn parse(log: &[u8]) -> Result<Trace, Error> {
    AccessLog::default().parse(Path::new("access.log"), log)
}

fn trace(log: &str) -> Trace {
    parse(log.as_bytes()).unwrap()
}

fn times(text: &str) -> Times {
    Times::parse(Path::new("times"), text.as_bytes()).unwrap().0
}

fn millis(trace: &Trace) -> Vec<u64> {
    trace.requests.iter().map(|request| request.at.as_nanos() / 1_000_000).collect()
}

fn urls(trace: &Trace) -> Vec<&str> {
    trace.requests.iter().map(|request| &*trace.objects[request.object as usize].url).collect()
}

/// A line of the combined format with a time of day, a zone and a request.
fn at(time: &str, zone: &str, request: &str) -> String {
    format!("192.0.2.7 - - [26/Oct/2025:{time} {zone}] \"{request}\" 200 5 \"-\" \"test\"\n")
}

fn get(time: &str, url: &str) -> String {
    at(time, "+0000", &format!("GET {url} HTTP/1.1"))
}

#[test]
fn requests_of_the_same_second_are_spread_over_it() {
    let log = [get("10:00:00", "/a"), get("10:00:00", "/b"), get("10:00:02", "/c"), get("10:00:02", "/d")];
    let log = log.concat() + &get("10:00:02", "/e") + &get("10:00:02", "/f");
    let trace = trace(&log);
    assert_eq!(trace.resolution, Resolution::Seconds);
    assert_eq!(millis(&trace), [0, 500, 2000, 2250, 2500, 2750]);
    assert_eq!(urls(&trace), ["/a", "/b", "/c", "/d", "/e", "/f"]);
    assert_eq!(trace.duration, Span::from_secs(3));
    assert_eq!(trace.rate().map(Rate::as_f64), Some(2.0));
    let kept = AccessLog::default().keep_seconds().parse(Path::new("log"), log.as_bytes()).unwrap();
    assert_eq!(millis(&kept), [0, 0, 2000, 2000, 2000, 2000]);
    assert_eq!(kept.duration, Span::from_secs(3));
}

#[test]
fn finer_times_stay_as_they_are() {
    let trace =
        trace(&[get("10:00:00.100", "/a"), get("10:00:00.300", "/b"), get("10:00:00.500", "/a")].concat());
    assert_eq!(trace.resolution, Resolution::Millis);
    assert_eq!(millis(&trace), [0, 200, 400]);
    assert_eq!(trace.duration, Span::from_millis(600));
    let summary = trace.summary();
    assert_eq!((summary.requests, summary.urls, summary.cv), (3, 2, Some(0.0)));
    assert_eq!(summary.span, Span::from_millis(400));
    assert_eq!(summary.rate.map(Rate::as_f64), Some(5.0));
    assert_eq!(summary.methods.into_iter().collect::<Vec<_>>(), [(Method::Get, 3)]);
    assert_eq!(summary.statuses.into_iter().collect::<Vec<_>>(), [(200, 3)]);
}

#[test]
fn one_coarse_line_makes_a_coarse_trace() {
    let trace = trace(&[get("10:00:00.100", "/a"), get("10:00:00", "/b")].concat());
    assert_eq!(trace.resolution, Resolution::Seconds);
    assert_eq!((millis(&trace), urls(&trace)), (vec![0, 500], vec!["/b", "/a"]));
    assert_eq!(trace.summary().cv, None);
}

#[test]
fn the_variation_of_gaps_is_that_of_the_sample() {
    let trace = trace(
        &["00.000", "00.001", "00.002", "00.009"].map(|time| get(&format!("10:00:{time}"), "/")).concat(),
    );
    // Gaps of 1, 1 and 7 ms: mean 3, standard deviation sqrt(12).
    assert!((trace.summary().cv.unwrap() - 12_f64.sqrt() / 3.0).abs() < 1e-6);
}

#[test]
fn zones_and_the_end_of_summer_time_make_no_difference() {
    let log = [
        at("02:59:59", "+0200", "GET /summer HTTP/1.1"),
        at("02:00:00", "+0100", "GET /winter HTTP/1.1"),
        at("01:00:01", "+0000", "GET /utc HTTP/1.1"),
    ];
    let trace = trace(&log.concat());
    assert_eq!((millis(&trace), trace.skipped.out_of_order), (vec![0, 1000, 2000], 0));
}

#[test]
fn times_are_put_in_order() {
    let log =
        [get("10:00:02.0", "/c"), get("10:00:00.0", "/a"), get("10:00:01.0", "/b"), get("10:00:02.0", "/d")];
    let trace = trace(&log.concat());
    assert_eq!((urls(&trace), millis(&trace)), (vec!["/a", "/b", "/c", "/d"], vec![0, 1000, 2000, 2000]));
    assert_eq!(trace.skipped.out_of_order, 2);
}

#[test]
fn what_is_no_request_is_counted_and_shown() {
    let mut log = get("10:00:00", "/").into_bytes();
    log.extend(at("10:00:01", "+0000", "POST /form HTTP/1.1").bytes());
    log.extend(at("10:00:01", "+0000", "-").bytes());
    log.extend(b"\n   \r\n");
    log.extend(at("10:00:01", "+0000", r"\x16\x03\x01").bytes());
    log.extend(b"\xff\xfe\x00 what?\n");
    log.extend(at("midnight", "+0000", "GET / HTTP/1.1").bytes());
    log.extend(vec![b'x'; 200_000]);
    log.extend(b"\n");
    log.extend(vec![0; 5000]);
    log.extend(get("10:00:02", "/after/zeros").trim_end().bytes());
    log.extend(b"\r\n");
    log.extend(get("10:00:03", "/last").trim_end().bytes());
    let trace = parse(&log).unwrap();
    assert_eq!(urls(&trace), ["/", "/after/zeros", "/last"]);
    let skipped = trace.skipped;
    assert_eq!((skipped.lines, skipped.broken(), skipped.other_methods()), (11, 5, 1));
    let reasons: Vec<(Reason, u64)> = skipped.reasons().collect();
    let each = [Reason::NoRequest, Reason::NoTime, Reason::Empty, Reason::BadRequest, Reason::TooLong];
    assert_eq!(reasons, each.map(|reason| (reason, 1)));
    let shown: Vec<(u64, Reason)> = skipped.examples.iter().map(|line| (line.number, line.reason)).collect();
    assert_eq!(
        shown,
        [
            (3, Reason::Empty),
            (6, Reason::BadRequest),
            (7, Reason::NoRequest),
            (8, Reason::NoTime),
            (9, Reason::TooLong)
        ]
    );
    assert_eq!(skipped.examples[2].text, r"\xff\xfe\x00 what?");
    let text = skipped.to_string();
    assert!(text.starts_with("11 lines, 1 broken (no request in quotes), 1 broken (no time"), "{text}");
    assert!(text.contains("\n  line 7: no request in quotes: \\xff\\xfe\\x00 what?\n"), "{text}");
}

#[test]
fn a_flood_of_broken_lines_takes_no_memory() {
    let log = "nonsense\n".repeat(10_000) + &get("10:00:00", "/");
    let skipped = trace(&log).skipped;
    assert_eq!((skipped.broken(), skipped.examples.len()), (10_000, 5));
}

#[test]
fn a_file_without_requests_is_refused_with_what_is_in_it() {
    let error = parse(at("10:00:00", "+0000", "POST / HTTP/1.1").as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "access.log: not one of its lines can be replayed; 1 line, 1 left out, without a body in the log or a path (1 POST)"
    );
    assert!(parse(b"").is_err());
}

#[test]
fn compressed_files_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (magic, with) in [(&b"\x28\xb5\x2f\xfd"[..], "zstdcat"), (b"\xfd7zXZ\0", "xzcat"), (b"BZh9", "bzcat")]
    {
        let path = folder.path().join("access.log.1");
        std::fs::write(&path, [magic, b"rest"].concat()).unwrap();
        let error = AccessLog::default().read(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("is compressed; unpack it first: {with} ")), "{error}");
    }
    assert!(matches!(AccessLog::default().read(folder.path()), Err(Error::Read { .. })));
    let error = Times::read(&folder.path().join("none")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("No such file"), "{error}");
}

#[test]
fn time_can_be_scaled() {
    let log = [get("10:00:00.0", "/a"), get("10:00:01.0", "/b"), get("10:00:04.0", "/c")].concat();
    let times = || trace(&log).times();
    let millis = |times: &Times| -> Vec<u64> {
        times.arrivals().take(3).map(|time| time.as_nanos() / 1_000_000).collect()
    };
    let slow = times().scaled_time(2.0).unwrap();
    assert_eq!((millis(&slow), slow.duration()), (vec![0, 2000, 8000], Span::from_secs(12)));
    let fast = times().at_rate(Rate::per_second(5.0).unwrap()).unwrap();
    assert_eq!((millis(&fast), fast.duration()), (vec![0, 100, 400], Span::from_millis(600)));
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(times().scaled_time(factor), Err(Error::Factor(_))), "{factor}");
    }
    assert!(times().at_rate(Rate::default()).is_err());
    let at_once = trace(&[get("10:00:00.0", "/a"), get("10:00:00.0", "/b")].concat()).times();
    assert!(matches!(at_once.at_rate(Rate::per_second(1.0).unwrap()), Err(Error::NoRate)));
}

#[test]
fn a_trace_that_is_too_short_begins_anew() {
    let log = [get("10:00:00.0", "/a"), get("10:00:01.0", "/b"), get("10:00:04.0", "/c")].concat();
    let seconds = |times: &Times, count| -> Vec<u64> {
        times.arrivals().take(count).map(|time| time.as_nanos() / 1_000_000_000).collect()
    };
    assert_eq!(seconds(&trace(&log).times(), 7), [0, 1, 4, 6, 7, 10, 12]);
    assert_eq!(seconds(&times("5\n3\n6\n"), 7), [0, 2, 3, 4, 6, 7, 8]);
    let at_once = times("1.5\n1.5\n");
    assert_eq!(at_once.arrivals().collect::<Vec<_>>(), [Time::ZERO; 2], "no rate to go on with");
}

#[test]
fn what_is_asked_for_again_is_the_same_object() {
    let head = at("10:00:01.0", "+0000", "HEAD /a HTTP/1.1");
    let trace =
        trace(&[get("10:00:00.0", "/a"), head, get("10:00:02.0", "/b"), get("10:00:03.0", "/a")].concat());
    let objects: Vec<(Method, &str)> =
        trace.objects.iter().map(|object| (object.method, &*object.url)).collect();
    assert_eq!(objects, [(Method::Get, "/a"), (Method::Head, "/a"), (Method::Get, "/b")]);
    let requests: Vec<u32> = trace.requests.iter().map(|request| request.object).collect();
    assert_eq!((requests, trace.summary().urls), (vec![0, 1, 2, 0], 2));
}

#[test]
fn plain_times_can_be_numbers_dates_and_lines_of_a_log() {
    let text = "# seconds\n2000-10-10T13:55:36.5-07:00\n971211336.75\n\n10/Oct/2000:20:55:37.0 +0000\nsoon\n";
    let log = r#"::1 - - [10/Oct/2000:20:55:37.250 +0000] "POST / HTTP/1.1" 200 5"#;
    let (times, skipped) = Times::parse(Path::new("times"), (text.to_owned() + log).as_bytes()).unwrap();
    let millis: Vec<u64> = times.arrivals().take(4).map(|time| time.as_nanos() / 1_000_000).collect();
    assert_eq!(millis, [0, 250, 500, 750]);
    assert_eq!((times.len(), times.duration()), (4, Span::from_secs(1)));
    assert_eq!((skipped.lines, skipped.broken()), (7, 1));
}

/// Bytes that resemble an access log enough to get into every corner of the reader.
fn nearly_a_log() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            &b"[10/Oct/2000:13:55:36 -0700]"[..],
            b"[10/Oct/2000:13:55:36.123",
            b"2000-10-10T20:55:36Z",
            b"971211336.123",
            b"18446744073709551615",
            b" \"GET /a HTTP/1.1\" 200 5 ",
            b"\"GET http://[::1",
            b"\"-\" 408",
            b"\\x",
            b"{\"msec\":\"971211336.123\",\"request\":\"GET /",
            b" HTTP/1.1\"}\n",
            b"{\"log\":\"",
            b"\\n\",\"stream\":\"stdout\"}\n",
            b"\n#Fields: date time cs-method cs-uri-stem\n",
            b"2000-10-10 20:55:36 GET /b\n",
            b"http 2000-10-10T20:55:36Z a b c 0.1 0.1 0.1 200 200 1 2 \"GET http://a/\" \"",
            b" a/b 1/2/3/4/5 200 1 ",
            b"\\\"",
            b"\"",
            b"[",
            b"]",
            b" ",
            b"\n",
            b"\r\n",
            b"\0",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_counted(bytes in nearly_a_log()) {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count() as u64;
        match parse(&bytes) {
            Ok(trace) => {
                prop_assert!(trace.requests.is_sorted_by_key(|request| request.at));
                prop_assert_eq!(trace.requests[0].at, Span::ZERO);
                let sendable = |url: &str| url.starts_with('/') && url.bytes().all(|byte| byte.is_ascii_graphic());
                prop_assert!(trace.objects.iter().all(|object| sendable(&object.url)));
                prop_assert!(trace.requests.iter().all(|request| (request.object as usize) < trace.objects.len()));
                let skipped = &trace.skipped;
                prop_assert_eq!(skipped.lines, lines);
                prop_assert!(trace.requests.len() as u64 + skipped.broken() + skipped.other_methods() <= lines);
            }
            Err(Error::Nothing { skipped, .. }) => prop_assert_eq!(skipped.lines, lines),
            Err(error) => prop_assert!(false, "{}", error),
        }
        if let Ok((times, _)) = Times::parse(Path::new("times"), &bytes[..]) {
            let arrivals: Vec<Time> = times.arrivals().take(3 * times.len()).collect();
            prop_assert!(arrivals.is_sorted());
        }
    }
}
