//! `headworks sim` and `headworks sim exact` as processes: what they say, and what they refuse.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).arg("sim").args(arguments).output().unwrap()
}

/// Words of a command line.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[track_caller]
fn json(arguments: &str) -> Value {
    let output = sim(&words(arguments));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// It is refused as a mistake of the command line, with nothing on standard output.
#[track_caller]
fn check_refused(arguments: &str, says: &str) {
    let output = sim(&words(arguments));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
    assert!(text.contains(says), "{arguments}: {text}");
    assert!(output.stdout.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_simulated_and_the_computed_agree() {
    let model = "--service exponential --discipline fcfs --dynamic 0 --threads 2 --processors 4 --queue 10 --load 0.8";
    let exact = json(&format!("exact {model} --json"));
    assert_eq!(exact["method"], "markov");
    let outcome = json(&format!("{model} --requests 20k --replications 16 --precision 0 --json"));
    let rejected = exact["rejected"].as_f64().unwrap();
    assert!((outcome["rejected"]["mean"].as_f64().unwrap() - rejected).abs() < 0.01, "{outcome} {exact}");
    for key in
        ["latency", "utilization", "throughput", "replications", "events", "events_per_second", "warmup"]
    {
        assert!(!outcome[key].is_null(), "{key}");
    }
    let ci = outcome["latency"]["p90"]["ci"].as_array().unwrap();
    assert!(ci[0].as_f64() <= outcome["latency"]["p90"]["mean"].as_f64(), "{outcome}");
}

#[test]
fn what_is_not_as_precise_as_asked_exits_4_and_says_what_it_would_take() {
    let output =
        sim(&words("--cv 4 --queue 120 --requests 1000 --warmup 100 --replications 4 --precision 0.001"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("NOT AS PRECISE AS ASKED FOR") && text.contains("it would take about"), "{text}");
    let output = sim(&words("--requests 1000 --warmup 100 --replications 4 --precision 0"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn numbers_out_of_their_range_are_refused_with_the_range() {
    for plain in ["", "exact "] {
        let check = |arguments: &str, says: &str| check_refused(&format!("{plain}{arguments}"), says);
        check("--threads 0", "must be at least 1");
        check("--threads 2M", "must be at most 1000000");
        check("--processors 0", "must be at least 1");
        check("--queue -1", "from 0 to 1000000000, or \"none\" for no limit");
        check("--load 0", "the load must be from 0.000001 to 1000, not 0");
        check("--load -1", "not -1");
        check("--load NaN", "the load must be from");
        check("--rate 0", "requests per second");
        check("--rate -3", "--rate <R>");
        check("--threads -3", "--threads <N>");
        check("--cv -1", "gamma or lognormal");
        check("--dynamic 1.5", "--dynamic");
        check("--dynamic-cost -2", "the mean time that a request needs, in seconds, must be from");
        check("--static-time -5ms", "--static-time <SPAN>");
        check("--static-time 0s", "the mean time that a request needs");
        check("--static-time fast", "--static-time");
        check("--service-cv 0", "a coefficient of variation from 0.001 to 100, not 0");
        check("--service weibull", "expected constant, exponential, erlang:STAGES");
        check("--service erlang:0", "a whole number of stages from 1 to 1000000");
        check("--discipline lifo", "expected ps, fcfs, lcfs, srpt, priority or rr:QUANTUM");
        check("--discipline rr:0s", "the quantum of round robin");
    }
    check_refused("--precision 2", "--precision must be a share from 0 to 1");
    check_refused("--replications 1", "must be at least 2");
    check_refused("--requests 5", "must be at least 100");
}

#[test]
fn arrivals_that_cannot_be_are_refused() {
    for plain in ["", "exact "] {
        let check = |arguments: &str, says: &str| check_refused(&format!("{plain}{arguments}"), says);
        check("--cv 0.5", "gamma or lognormal");
        check("--arrivals h2:0.5", "1 to 100");
        check("--arrivals h2 --cv 0.5", "1 to 100");
        check("--arrivals weibull", "no such arrival process");
        check("--arrivals h2:3 --cv 2", "h2:3 has a variation of its own; leave out cv");
        check("--arrivals mmpp:0.5:1s:1s", "a ratio from 1 to 1000000");
        check("--arrivals trace:no-such-file", "no-such-file");
        check("--load 1 --rate 5", "cannot be used with");
    }
}

#[test]
fn a_queue_that_grows_for_ever_is_refused_with_what_could_be_served() {
    for plain in ["", "exact "] {
        let check = |arguments: &str, says: &str| check_refused(&format!("{plain}{arguments}"), says);
        check("--queue none", "its processors serve 9.615 at most");
        check("--queue none --load 1.2", "give a queue length, or a rate below that (a load below 1.000)");
        check("--queue none --load 0.7 --threads 1 --processors 2", "its threads, each held for 104.000 ms");
    }
    check_refused("exact --queue 5", "no exact solution is known");
    check_refused("exact --queue 5", "100000 threads or more");
    check_refused(
        "exact --service exponential --discipline fcfs --dynamic 0 --load 1.1 --queue 1000000000",
        "which is too much to compute",
    );
}

#[test]
fn a_trace_is_played_at_its_own_rate_and_said_to_be_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("times.txt");
    let times: Vec<String> = (0..200).map(|index| format!("{}", f64::from(index) * 0.5)).collect();
    fs::write(&file, times.join("\n")).unwrap();
    let trace = format!("--arrivals trace:{}", file.display());
    let plan = "--requests 1000 --warmup 0 --replications 4 --precision 0 --json";
    let output = sim(&words(&format!("{trace} {plan}")));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((outcome["throughput"]["mean"].as_f64().unwrap() - 2.0).abs() < 0.01, "{outcome}");
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.contains("the trace has 200 arrivals and was read 20.1 times"), "{notes}");
    let scaled = json(&format!("{trace} --rate 4 {plan}"));
    assert!((scaled["throughput"]["mean"].as_f64().unwrap() - 4.0).abs() < 0.02, "{scaled}");
    check_refused(&format!("{trace} --cv 7"), "a trace has a variation of its own; leave out cv");
}

#[test]
fn logs_that_say_nothing_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("empty"), "").unwrap();
    fs::write(path("words"), "no log\nat all\n").unwrap();
    fs::write(path("binary"), [0, 159, 146, 150, 10, 255]).unwrap();
    fs::write(path("packed"), [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]).unwrap();
    fs::write(path("few"), "h - - [1000000000] \"GET / HTTP/1.1\" 200 5\n".repeat(3)).unwrap();
    for (name, says) in [
        ("empty", "not one of its lines"),
        ("words", "2 broken"),
        ("binary", "not one of its lines"),
        ("packed", "is compressed; unpack it first"),
        ("few", "3 requests are too few"),
        ("missing", "cannot read"),
    ] {
        let place = path(name).display().to_string();
        for arguments in [format!("fit {place}"), format!("--from {place}")] {
            check_refused(&arguments, says);
            check_refused(&arguments, name);
        }
    }
    check_refused(&format!("--arrivals trace:{}", path("words").display()), "not one of its lines");
    let log =
        "h - - [1000000000.5] \"GET / HTTP/1.1\" 200 5\nh - - [1000000001.5] \"GET / HTTP/1.1\" 200 5\n";
    fs::write(path("costless"), log.repeat(100)).unwrap();
    check_refused(&format!("--from {}", path("costless").display()), "--static-time");
    check_refused(&format!("fit {} --logged later", path("costless").display()), "expected begin or end");
    check_refused(&format!("fit {} --dynamic-cost 0", path("costless").display()), "must be above 0");
}

#[test]
fn what_has_no_effect_in_a_model_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("m.toml");
    let check = |text: &str, more: &str, says: &str| {
        fs::write(&file, text).unwrap();
        check_refused(&format!("--model {} {more}", file.display()), says);
        check_refused(&format!("exact --model {} {more}", file.display()), says);
    };
    let clients = "clients = 5\nthink = '1s'\n";
    check(clients, "--arrivals poisson", "wait for their answers, so that arrivals and cv have no meaning");
    check(clients, "--cv 2", "give a rate or a load as well");
    check(&format!("{clients}arrivals = 'h2:2'\n"), "", "m.toml:3: arrivals are given, and clients");
    let retries = "[retries]\nshare = 1\ndelay = '1s'\nmost = 3\n";
    check(&format!("{clients}{retries}"), "", "retries have no meaning for clients");
    check(
        "[equipment]\nlink = '1MB'\n",
        "",
        "m.toml:2: the model has links, and no class of requests has a size",
    );
    let slow = "queue = 'none'\nthreads = 10\nload = 0.5\n[equipment]\nkeep-alive = '5s'\n";
    check(slow, "", "its threads, each held for");
}

#[test]
fn whether_a_server_recovers_is_said_in_words_and_as_json() {
    let model = "recovery --dynamic 0 --static-time 10ms --service constant --discipline fcfs --threads 1 --queue 300 \
                 --drops --patience 1s --surge 3:5s --try-loads 0.2 --try-retries 0,3 --replications 10 --quiet";
    let output = sim(&words(model));
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("load 0.2") && text.contains("recovers up to a load of"), "{text}");
    let map = json(&format!("{model} --json"));
    let boundary = |row: usize| map["rows"][row]["boundary"]["p50"].as_f64().unwrap();
    assert!(boundary(0) > 0.9 && boundary(1) < 0.3, "{map}");
    assert_eq!(map["rows"][1]["trials"][0]["probability"]["value"], 1.0, "{map}");
    for (wrong, says) in [
        ("recovery --patience 1s --rate 5", "give --try-loads and --try-retries"),
        ("recovery --queue 50 --retry-delay 1s", "say how long they wait"),
        ("recovery --patience 1s --surge 0.5:10s", "the load, from 1 to 1000"),
        ("recovery --patience 1s --try-loads 1.5 --drops --queue 5", "above 0 and below 1"),
        ("recovery --patience 1s --queue 5", "find the queue as full as before"),
        ("recovery --patience 1s --drops --queue 5 --retries 2", "give --try-loads and --try-retries"),
        ("--drops --queue 5", "leaves clients waiting that never give up"),
        ("--patience 1s --retries 3 --queue 5", "find the queue as full as before"),
        ("--retry-delay 1s", "do not ask again"),
        ("--discipline priority --dynamic 0", "is between classes"),
    ] {
        check_refused(wrong, says);
    }
}

#[test]
fn what_retries_may_do_is_told() {
    let calm = "--load 0.5 --dynamic 0 --queue 500 --drops --patience 1s --retries 3 --requests 1000 --warmup 100 \
                --replications 4 --precision 0";
    let output = sim(&words(calm));
    let (text, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("given up") && text.contains("lost"), "{text}");
    assert!(notes.contains("2.00 times what the processors can serve"), "{notes}");
}
