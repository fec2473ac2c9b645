use std::fmt::Write;
use std::io::Write as _;

use rand::{Rng, SeedableRng};
use units::Span;

use super::observation::Request;
use super::*;
use crate::draw::{Arrivals, Gaps, Random};
use crate::{Model, Offered, Plan};

const HOUR: f64 = 3600.0;

fn fit(observation: &Observation, options: &FitOptions) -> Fit {
    super::fit(observation, options).unwrap()
}

/// Points in time at a rate, from a fixed seed.
fn times(arrivals: &str, rate: f64, length: f64) -> Vec<f64> {
    let arrivals: Arrivals = arrivals.parse().unwrap();
    let mut gaps = Gaps::new(&arrivals, rate.recip(), Random::seed_from_u64(5));
    let mut now = 0.0;
    let next = || {
        now += gaps.draw();
        (now < length).then_some(now)
    };
    std::iter::from_fn(next).collect()
}

/// A log whose lines end in `end`.
fn log(times: &[f64], whole_seconds: bool, end: &str) -> tempfile::NamedTempFile {
    let mut text = String::new();
    for (index, at) in times.iter().enumerate() {
        let at = 1_000_000_000.0 + at;
        let at = if whole_seconds { at.floor() } else { at };
        let url = if index % 5 == 0 { "/page.php?x=1" } else { "/image.gif" };
        writeln!(text, "h - - [{at:.6}] \"GET {url} HTTP/1.1\" 200 {} \"-\" \"-\"{end}", 1000 + index % 3)
            .unwrap();
    }
    let text = if whole_seconds { text.replace(".000000]", "]") } else { text };
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn observation(requests: Vec<Request>, resolution: f64) -> Observation {
    Observation {
        source: "synthetic".to_owned(),
        origin: Origin::Log,
        requests,
        resolution,
        skipped: 0,
        unread: Vec::new(),
        zero: None,
        ended: 0.0,
        steps: Vec::new(),
        clients: None,
        remarks: Vec::new(),
    }
    .checked()
    .unwrap()
}

/// What a log with these times would be.
fn fitted(times: &[f64], whole_seconds: bool) -> Fit {
    let at = |at: &f64| if whole_seconds { at.floor() } else { *at };
    let requests = times.iter().map(|time| Request { at: at(time), ..Request::default() }).collect();
    fit(&observation(requests, if whole_seconds { 1.0 } else { 1e-6 }), &FitOptions::default())
}

#[track_caller]
fn check_cv(process: &str, whole_seconds: bool, expected: f64, within: f64) {
    let fit = fitted(&times(process, 50.0, 3.0 * HOUR), whole_seconds);
    assert!((fit.rate / 50.0 - 1.0).abs() < 0.05, "{}", fit.rate);
    let arrivals = fit.arrivals.unwrap();
    assert!((arrivals.cv.mean - expected).abs() < within, "{arrivals:?}");
    assert_eq!(arrivals.cv_of_gaps.is_some(), !whole_seconds);
    let text = arrivals.process.to_string();
    assert!(text.starts_with(process.split(':').next().unwrap()), "{text}");
}

#[test]
fn the_variation_is_found_from_whole_seconds() {
    check_cv("poisson", true, 1.0, 0.05);
    check_cv("h2:3", true, 3.0, 0.3);
    check_cv("h2:2", true, 2.0, 0.2);
    check_cv("gamma:0.5", true, 0.5, 0.05);
}

#[test]
fn the_variation_is_found_from_fine_times() {
    check_cv("poisson", false, 1.0, 0.05);
    check_cv("h2:3", false, 3.0, 0.3);
    let arrivals = fitted(&times("h2:3", 50.0, HOUR), false).arrivals.unwrap();
    assert!((arrivals.cv_of_gaps.unwrap() - 3.0).abs() < 0.15, "{arrivals:?}");
}

#[test]
fn few_requests_are_poisson_until_shown_otherwise() {
    let process =
        |arrivals| fitted(&times(arrivals, 15.0, 24.0), false).arrivals.unwrap().process.to_string();
    assert_eq!(process("poisson"), "poisson");
    assert!(process("h2:3").starts_with("h2:"));
}

#[test]
fn few_requests_a_second_do_as_well() {
    for process in ["poisson", "h2:3"] {
        let cv = if process == "poisson" { 1.0 } else { 3.0 };
        let arrivals = fitted(&times(process, 2.0, 10.0 * HOUR), true).arrivals.unwrap();
        assert!((arrivals.cv.mean - cv).abs() < 0.2 * cv, "{arrivals:?}");
        assert!(arrivals.process.to_string().starts_with(&process[..2]), "{arrivals:?}");
    }
}

#[test]
fn busy_and_quiet_times_are_found() {
    for whole_seconds in [true, false] {
        let arrivals = fitted(&times("mmpp:5:10s:60s", 50.0, 10.0 * HOUR), whole_seconds).arrivals.unwrap();
        let Arrivals::Mmpp(mmpp) = arrivals.process else { panic!("{arrivals:?}") };
        assert!((3.5..7.0).contains(&mmpp.ratio), "{mmpp:?}");
        assert!((7.0..14.0).contains(&mmpp.busy.as_secs_f64()), "{mmpp:?}");
        assert!((40.0..90.0).contains(&mmpp.quiet.as_secs_f64()), "{mmpp:?}");
    }
}

#[test]
fn windows_whose_rate_changes_are_left_out() {
    // An hour at 10, an hour from 10 to 30, an hour at 30 requests a second.
    let mut all = times("poisson", 10.0, HOUR);
    let rising = times("poisson", 20.0, HOUR);
    // Of a constant rate as many as twice the mean, moved to where the rate is 10 + 20 x.
    all.extend(rising.iter().map(|at| {
        let share = at / HOUR;
        HOUR + HOUR * ((0.25 + 2.0 * share).sqrt() - 0.5)
    }));
    all.extend(times("poisson", 30.0, HOUR).iter().map(|at| 2.0 * HOUR + at));
    let fit = fitted(&all, true);
    let verdicts: Vec<bool> = fit.windows.iter().map(Window::is_steady).collect();
    assert_eq!(verdicts, [true, false, true], "{:?}", fit.windows);
    let WindowVerdict::Trending { change } = fit.windows[1].verdict else { panic!() };
    assert!((1.7..2.4).contains(&change), "{change}");
    // The busiest of those with a constant rate.
    assert!((fit.rate - 30.0).abs() < 0.5);
    assert!((fit.arrivals.as_ref().unwrap().cv.mean - 1.0).abs() < 0.1);
    let shown = fit.to_string();
    assert!(shown.contains(", its rate changes by +") && shown.contains("Its rate goes from 9."), "{shown}");
}

#[test]
fn classes_and_sizes_are_counted() {
    let file = log(&times("poisson", 20.0, 600.0), true, "");
    let observation = Observation::of_log(file.path(), LogFormat::default()).unwrap();
    let fit = fit(&observation, &FitOptions::default());
    assert!((fit.arrivals.as_ref().unwrap().cv.mean - 1.0).abs() < 0.1, "{fit}");
    let [files, programs] = fit.classes.as_slice() else { panic!("{:?}", fit.classes) };
    assert_eq!((files.name.as_str(), programs.name.as_str()), ("static", "dynamic"));
    assert!((programs.share - 0.2).abs() < 0.001);
    let size = files.size.unwrap();
    assert!((size.mean - 1001.0).abs() < 0.1 && (size.p50, size.p99) == (1001.0, 1002.0), "{size:?}");
    assert_eq!(fit.status.get(&200).copied(), Some(fit.requests));
    let why = fit.model().unwrap_err().to_string();
    assert!(why.contains("does not say what static requests cost") && why.contains("--static-time"), "{why}");
    let stated = Stated { static_time: Some(0.01), dynamic_cost: Some(10.0) };
    let fit = super::fit(&observation, &FitOptions { stated, ..FitOptions::default() }).unwrap();
    assert!((fit.utilization.unwrap() - fit.rate * 0.028).abs() < 0.01, "{fit}");
    let shown = fit.to_string();
    assert!(shown.contains("each needs 100.000 ms of a processor (as stated)"), "{shown}");
    assert!(!shown.contains("nothing is known of what they cost"), "{shown}");
    let (model, notes) = fit.model().unwrap();
    assert_eq!(model.classes.iter().map(|class| class.demand).collect::<Vec<_>>(), [0.01, 0.1]);
    let text = model.to_toml(&notes).unwrap();
    assert!(text.contains("# c_v ") && text.contains("# As stated."), "{text}");
    let read = Model::parse(&config::Source::new("m", text), ".".as_ref()).unwrap();
    assert_eq!(read.threads, model.threads);
}

#[test]
fn times_at_the_end_of_lines_give_costs() {
    let at = times("poisson", 10.0, 600.0);
    let file = log(&at, true, " 0.020");
    let observation = Observation::of_log(file.path(), LogFormat::default()).unwrap();
    let fitted = fit(&observation, &FitOptions::default());
    assert_eq!(fitted.demands, Some(DemandSource::Replay));
    // With Poisson arrivals that is 0.2 requests present on average.
    let demand = fitted.classes[0].demand.unwrap();
    assert!((demand - 0.020 / 1.2).abs() < 4e-4, "{demand}");
    let file = log(&at, true, " 20000");
    assert!(
        Observation::of_log(file.path(), LogFormat::default())
            .unwrap()
            .requests
            .iter()
            .all(|r| r.took.is_none())
    );
    let micros =
        Observation::of_log(file.path(), LogFormat { time_taken: TimeTaken::Micros, ..LogFormat::default() })
            .unwrap();
    assert_eq!(fit(&micros, &FitOptions::default()).classes[0].demand, Some(demand));
}

/// Requests that took up to three seconds, each on a line of its end's time.
fn log_of_ends(arrivals: &[f64], decimals: usize) -> tempfile::NamedTempFile {
    let mut text = String::new();
    for (index, at) in arrivals.iter().enumerate() {
        let took = (index * 7919 % 3000) as f64 / 1000.0;
        let end = 1e9 + at + took;
        let end = if decimals == 0 { end.floor() } else { end };
        writeln!(text, "h - - [{end:.decimals$}] \"GET / HTTP/1.1\" 200 5 {took:.3}").unwrap();
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn nginx_writes_a_line_when_a_request_has_ended() {
    let arrivals = times("h2:3", 10.0, 600.0);
    let read = |decimals, format| {
        let observation = Observation::of_log(log_of_ends(&arrivals, decimals).path(), format).unwrap();
        let furthest = arrivals.iter().zip(&observation.requests).map(|(arrival, request)| {
            let began = if decimals == 0 { arrivals[0].floor() } else { arrivals[0] };
            (request.at - (arrival - began)).abs()
        });
        (furthest.fold(0.0, f64::max), observation.remarks.join(" "))
    };
    let (furthest, remarks) = read(6, LogFormat::default());
    assert!(
        furthest < 1e-3 && remarks.contains("nginx writes a line when its request has ended"),
        "{furthest}"
    );
    // Within the second, and the half that an end may be off.
    assert!(read(0, LogFormat::default()).0 <= 1.5 + 1e-6);
    let begin = LogFormat { logged_at: LoggedAt::Begin, ..LogFormat::default() };
    let (furthest, remarks) = read(6, begin);
    assert!(furthest > 0.5 && !remarks.contains("nginx"), "{furthest}: {remarks}");
    let other = LogFormat { time_taken: TimeTaken::Micros, ..LogFormat::default() };
    assert!(read(6, other).0 > 0.5);
    let told = LogFormat { logged_at: LoggedAt::End, time_taken: TimeTaken::Seconds, lines: None };
    assert!(read(6, told).0 < 1e-3);
    let times_only = LogFormat { logged_at: LoggedAt::End, ..LogFormat::default() };
    let remarks = Observation::of_log(log(&arrivals, false, "").path(), times_only).unwrap().remarks;
    assert!(remarks.iter().any(|remark| remark.contains("do not say how long those took")), "{remarks:?}");
}

/// A file with a line for each arrival, which took so long and ended then.
fn log_of(arrivals: &[f64], line: impl Fn(f64, f64, f64) -> String) -> tempfile::NamedTempFile {
    let took = |index: usize| (index * 7919 % 3000) as f64 / 1000.0;
    let lines =
        arrivals.iter().enumerate().map(|(index, at)| line(1e9 + at, took(index), 1e9 + at + took(index)));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.collect::<String>().as_bytes()).unwrap();
    file
}

#[test]
fn formats_that_say_how_long_requests_took_need_no_guess() {
    let arrivals = times("h2:3", 10.0, 600.0);
    let iso = |at: f64| {
        // A thousand million seconds are 01:46:40.
        let of_day = at - 1e9 + 6400.0;
        let (hours, minutes) = ((of_day / 3600.0).floor(), (of_day / 60.0).floor());
        format!("2001-09-09T{hours:02}:{:02}:{:09.6}Z", minutes % 60.0, of_day - minutes * 60.0)
    };
    let json = log_of(&arrivals, |_, took, end| {
        format!(
            "{{\"msec\":{end:.6},\"request\":\"GET / HTTP/1.1\",\"status\":200,\"body_bytes_sent\":5,\"request_time\":{took:.3}}}\n"
        )
    });
    let alb = log_of(&arrivals, |at, took, end| {
        format!(
            "http {} app/a/1 192.0.2.1:1 198.51.100.1:80 0.000 {took:.3} 0.000 200 200 0 5 \"GET http://a.example:80/ HTTP/1.1\" \"-\" - - arn \"-\" \"-\" \"-\" 0 {} \"forward\"\n",
            iso(end),
            iso(at)
        )
    });
    let given = log_of(&arrivals, |at, took, _| {
        format!("{:.0} [{:.0}] \"GET / HTTP/1.1\" 200 5\n", took * 1e6, at * 1e6)
    });
    let format =
        LogFormat { lines: Some("%D [%{usec}t] \"%r\" %>s %b".parse().unwrap()), ..LogFormat::default() };
    for (file, format, moved) in
        [(json, LogFormat::default(), true), (alb, LogFormat::default(), false), (given, format, false)]
    {
        let observation = Observation::of_log(file.path(), format).unwrap();
        assert_eq!((observation.requests.len(), observation.skipped), (arrivals.len(), 0));
        for (index, (arrival, request)) in arrivals.iter().zip(&observation.requests).enumerate() {
            assert!((request.at - (arrival - arrivals[0])).abs() < 1e-4, "{index}: {}", request.at);
            assert_eq!((request.status, request.bytes, request.dynamic), (Some(200), Some(5), false));
        }
        let took: f64 = observation.requests.iter().filter_map(|request| request.took).sum();
        let all: f64 = (0..arrivals.len()).map(|index| (index * 7919 % 3000) as f64 / 1000.0).sum();
        assert!((took - all).abs() < 1e-3, "{took}, {all}");
        let remarks = observation.remarks.join(" ");
        assert_eq!(remarks.contains("came as long before the time of their line"), moved, "{remarks}");
    }
}

/// What a server that shares its processor does to requests whose needs are known.
fn shared(rate: f64, needs: [f64; 2], threads: Option<u32>) -> Observation {
    let mut present: Vec<(usize, f64)> = Vec::new();
    let at = times("poisson", rate, 300.0);
    let mut random = Random::seed_from_u64(7);
    let dynamic: Vec<bool> = at.iter().map(|_| random.random_bool(0.2)).collect();
    let need = |index: usize| needs[usize::from(dynamic[index])];
    let mut requests: Vec<Request> = at
        .iter()
        .enumerate()
        .map(|(index, at)| Request {
            at: *at,
            began: Some(*at),
            dynamic: dynamic[index],
            status: Some(200),
            ..Request::default()
        })
        .collect();
    let (mut now, mut next) = (0.0, 0);
    let most = threads.map_or(usize::MAX, |threads| threads as usize);
    while next < at.len() || !present.is_empty() {
        let active = present.len().min(most);
        let least = present.iter().take(active).map(|(_, left)| *left).fold(f64::INFINITY, f64::min);
        let done = now + least * active.max(1) as f64;
        let arrival = at.get(next).copied().unwrap_or(f64::INFINITY);
        let until = done.min(arrival);
        let got = (until - now) / active.max(1) as f64;
        present.iter_mut().take(active).for_each(|(_, left)| *left -= got);
        now = until;
        if arrival < done {
            present.push((next, need(next)));
            next += 1;
        } else {
            let place = present.iter().take(active).position(|(_, left)| *left < 1e-12).unwrap();
            let (index, _) = present.remove(place);
            requests[index].took = Some(now - at[index]);
        }
    }
    observation(requests, 1e-9)
}

#[test]
fn needs_are_found_from_a_busy_server() {
    for threads in [None, Some(3)] {
        // A load of 0.9: most of a request's time in the server is not its own.
        let observation = shared(90.0, [0.005, 0.030], threads);
        let fit = fit(&observation, &FitOptions { threads, ..FitOptions::default() });
        let demands: Vec<f64> = fit.classes.iter().map(|class| class.demand.unwrap()).collect();
        assert!((demands[0] - 0.005).abs() < 1e-6 && (demands[1] - 0.030).abs() < 1e-6, "{demands:?}");
        assert!(fit.check.as_ref().unwrap().agrees, "{fit}");
        assert!((fit.utilization.unwrap() - 0.9).abs() < 0.05);
        assert_eq!(fit.model().unwrap().0.service, crate::Service::Constant);
    }
}

#[test]
fn what_was_measured_is_predicted() {
    let measured = shared(65.0, [0.005, 0.030], None);
    let (model, _) = fit(&measured, &FitOptions::default()).model().unwrap();
    let model = Model { threads: 1000, ..model };
    let plan = Plan { replications: 8, requests: 50_000, precision: None, ..Plan::default() };
    let predicted = crate::run(&model, &plan).unwrap();
    for (dynamic, class) in [false, true].into_iter().zip(&predicted.classes) {
        let own = measured.requests.iter().filter(|request| request.dynamic == dynamic);
        let took: Vec<f64> = own.filter_map(|request| request.took).collect();
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        assert!((class.latency.mean.mean / mean - 1.0).abs() < 0.1, "{}: {mean} {class:?}", class.name);
    }
}

#[test]
fn clients_that_wait_stay_clients() {
    let observation = Observation { clients: Some((8, 0.5)), ..shared(20.0, [0.005, 0.03], None) };
    let fit = fit(&observation, &FitOptions::default());
    assert_eq!(fit.arrivals, None);
    assert_eq!(fit.model().unwrap().0.offered, Offered::Clients(8, 0.5));
}

#[test]
fn what_says_nothing_is_an_error() {
    let mut broken = tempfile::NamedTempFile::new().unwrap();
    broken.write_all(b"no log\nat all\n").unwrap();
    let why = Observation::of_log(broken.path(), LogFormat::default()).unwrap_err().to_string();
    assert!(why.contains("2 broken"), "{why}");
    let few = log(&[0.0, 1.0, 2.0], true, "");
    let why = Observation::of_log(few.path(), LogFormat::default()).unwrap_err().to_string();
    assert!(why.contains("3 requests are too few"), "{why}");
    let at_once = log(&[0.0; 200], false, "");
    let why = Observation::of_log(at_once.path(), LogFormat::default()).unwrap_err().to_string();
    assert!(why.contains("of the same moment"), "{why}");
    assert!(Observation::of_run("/".as_ref()).is_err());
}

#[test]
fn a_window_shorter_than_the_resolution_allows_is_lengthened() {
    let file = log(&times("poisson", 50.0, 600.0), true, "");
    let observation = Observation::of_log(file.path(), LogFormat::default()).unwrap();
    let options = FitOptions { window: Span::from_millis(1), ..FitOptions::default() };
    assert_eq!(fit(&observation, &options).windows.len(), 50);
}
