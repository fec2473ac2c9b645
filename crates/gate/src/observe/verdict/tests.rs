use super::*;

/// Offered, refused, given up, mean wait.
type Load = (f32, f32, f32, f32);

fn sample(loads: &[Load]) -> Sample {
    let class = |&(offered, refused, aborted, wait): &Load| {
        let served = offered - refused - aborted;
        ClassSample {
            offered,
            served,
            refused,
            aborted,
            p95: (served > 0.0).then_some(0.041),
            waits: (served > 0.0).then(|| StageWaits { class: wait, server: 9.0, ..StageWaits::default() }),
            ..ClassSample::default()
        }
    };
    Sample {
        at: 0.0,
        span: 10.0,
        window: 8.0,
        in_service: 4.0,
        waiting: 0.0,
        capacity: None,
        finished: loads.iter().map(|&(offered, refused, aborted, _)| offered - refused - aborted).sum(),
        unclassified: 0.0,
        pressure: 0.0,
        classes: loads.iter().map(class).collect(),
    }
}

fn evidence(lately: &Sample) -> Evidence<'_> {
    let server = |name: &str| Server { name: name.to_owned(), up: true, requests: 100, failures: 0 };
    Evidence {
        lately: Some(lately),
        classes: ["premium", "basic"].map(|name| Class { name, patience: None, visitors: 0 }).into(),
        servers: vec![server("10.0.0.1:80"), server("10.0.0.2:80")],
        shadow: false,
        draining: false,
    }
}

#[track_caller]
fn says(evidence: &Evidence<'_>, severity: Severity, brief: &str, words: &str) {
    let verdict = Verdict::of(evidence);
    assert_eq!((verdict.severity, verdict.brief, &*verdict.words), (severity, brief, words));
}

const WELL: Load = (20.0, 0.0, 0.0, 0.001);

#[test]
fn who_is_refused_is_said_first() {
    let lately = sample(&[WELL, (70.0, 29.0, 0.0, 0.2)]);
    let mut evidence = evidence(&lately);
    let words = "basic: 41 % of requests are refused; premium: all served, 95 % within 41 ms.";
    says(&evidence, Severity::Warning, "Refusing", words);
    evidence.shadow = true;
    let words =
        "Shadow mode: basic: 41 % of requests would be refused; premium: all served, 95 % within 41 ms.";
    says(&evidence, Severity::Notice, "Would refuse", words);
    let few = sample(&[WELL, (70.0, 0.5, 1.0, 0.2)]);
    evidence = self::evidence(&few);
    let words = "No class suffers: what was asked is served, 95 % within 41 ms.";
    says(&evidence, Severity::Calm, "Calm", words);
}

#[test]
fn it_is_an_alarm_where_the_first_class_suffers() {
    for load in [(20.0, 1.0, 0.0, 0.0), (20.0, 0.0, 2.1, 0.0), (20.0, 0.0, 0.0, 1.1)] {
        let lately = sample(&[load, WELL]);
        assert_eq!(Verdict::of(&evidence(&lately)).severity, Severity::Alarm, "{load:?}");
        let lately = sample(&[WELL, load]);
        assert_eq!(Verdict::of(&evidence(&lately)).severity, Severity::Warning, "{load:?}");
    }
}

#[test]
fn clients_that_gave_up_have_suffered() {
    let lately = sample(&[WELL, (100.0, 0.0, 30.0, 0.01)]);
    let words = "basic: the clients of 30 % gave up; premium: all served, 95 % within 41 ms.";
    says(&evidence(&lately), Severity::Warning, "Given up", words);
}

#[test]
fn a_wait_is_long_by_the_patience_of_its_clients() {
    let lately = sample(&[WELL, (10.0, 0.0, 0.0, 3.0)]);
    let mut evidence = evidence(&lately);
    let words = "basic: those served waited 3 s in the gate; premium: all served, 95 % within 41 ms.";
    says(&evidence, Severity::Warning, "Long waits", words);
    evidence.classes[1].patience = Some(8.0);
    assert_eq!(Verdict::of(&evidence).severity, Severity::Calm, "they wait for longer");
}

#[test]
fn servers_that_are_down_or_fail_are_named() {
    let lately = sample(&[WELL, WELL]);
    let mut evidence = evidence(&lately);
    evidence.servers[1].failures = 40;
    says(
        &evidence,
        Severity::Warning,
        "Failing",
        "40 % of requests to 10.0.0.2:80 got no response (40 of 100). No request waits, none is refused, 95 % within 41 ms.",
    );
    evidence.servers[1].failures = 1;
    assert_eq!(Verdict::of(&evidence).severity, Severity::Calm, "one in a hundred");
    evidence.servers[1].up = false;
    let verdict = Verdict::of(&evidence);
    assert_eq!((verdict.severity, verdict.brief), (Severity::Warning, "Server down"));
    assert!(verdict.words.starts_with("1 of 2 servers is not up (10.0.0.2:80). "), "{}", verdict.words);
    evidence.servers[0].up = false;
    let verdict = Verdict::of(&evidence);
    assert_eq!((verdict.severity, verdict.brief), (Severity::Alarm, "No server"));
    assert!(verdict.words.starts_with("No server is up (10.0.0.1:80, 10.0.0.2:80). "), "{}", verdict.words);
}

#[test]
fn what_it_means_does_not_change_with_its_figures() {
    let meaning = |refused| Verdict::of(&evidence(&sample(&[WELL, (70.0, refused, 0.0, 0.2)]))).meaning;
    assert_eq!(meaning(29.0), meaning(33.0));
    assert_ne!(meaning(29.0), meaning(69.0));
    assert_ne!(meaning(29.0), meaning(0.0));
}

#[test]
fn a_gate_that_is_asked_for_nothing_is_calm() {
    let lately = sample(&[(0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)]);
    let mut evidence = evidence(&lately);
    says(&evidence, Severity::Calm, "Calm", "No class suffers: no requests come.");
    evidence.draining = true;
    says(
        &evidence,
        Severity::Notice,
        "Draining",
        "Draining: clients are sent elsewhere. No class suffers: no requests come.",
    );
    evidence.lately = None;
    evidence.draining = false;
    says(&evidence, Severity::Calm, "Starting", "The gate has just begun.");
}

#[test]
fn who_waits_within_reason_is_worth_a_notice() {
    let mut lately = sample(&[WELL, WELL]);
    lately.waiting = 3.2;
    let words = "No class suffers: 3 requests wait, none is refused, 95 % within 41 ms.";
    says(&evidence(&lately), Severity::Notice, "Waiting", words);
    lately.unclassified = 7.0;
    let verdict = Verdict::of(&evidence(&lately));
    assert_eq!((verdict.severity, verdict.brief), (Severity::Warning, "Refusing"));
    assert!(verdict.words.ends_with("7/s are refused before their class is known."), "{}", verdict.words);
}

#[test]
fn a_server_that_gives_nothing_back_is_an_alarm() {
    let mut lately = sample(&[(5.0, 0.0, 0.0, 0.0), (20.0, 0.0, 0.0, 0.0)]);
    (lately.finished, lately.in_service, lately.waiting) = (0.0, 8.0, 240.0);
    let words = "Nothing was finished in the last 10 s: 8 requests are in the server, 240 wait.";
    says(&evidence(&lately), Severity::Alarm, "Stalled", words);
    lately.in_service = 0.0;
    assert_ne!(Verdict::of(&evidence(&lately)).brief, "Stalled", "it has nothing to do");
}

#[test]
fn of_a_few_requests_nothing_follows() {
    let lately = sample(&[(0.1, 0.1, 0.0, 0.0), (0.1, 0.0, 0.1, 0.0)]);
    assert_eq!(Verdict::of(&evidence(&lately)).severity, Severity::Calm);
    let mut lately = sample(&[WELL, (5000.0, 0.0, 0.0, 0.0)]);
    lately.unclassified = 1.0;
    assert_eq!(Verdict::of(&evidence(&lately)).severity, Severity::Calm, "one of 5000");
}

#[test]
fn of_many_servers_one_that_is_down_is_worth_knowing_of() {
    let lately = sample(&[WELL, (70.0, 29.0, 0.0, 0.2)]);
    let mut evidence = evidence(&lately);
    evidence.servers = vec![evidence.servers[0].clone(); 40];
    evidence.servers[7].up = false;
    let verdict = Verdict::of(&evidence);
    assert_eq!((verdict.severity, verdict.brief), (Severity::Warning, "Refusing"));
    let well = sample(&[WELL, WELL]);
    evidence.lately = Some(&well);
    assert_eq!(Verdict::of(&evidence).severity, Severity::Notice);
    evidence.servers.iter_mut().for_each(|server| server.failures = 2);
    assert!(!Verdict::of(&evidence).words.contains("no response"), "two of a hundred each");
}

#[test]
fn visitors_of_the_waiting_room_are_not_refused() {
    let lately = sample(&[WELL, WELL]);
    let mut evidence = evidence(&lately);
    evidence.classes[1].visitors = 12;
    let verdict = Verdict::of(&evidence);
    assert_eq!((verdict.severity, verdict.brief), (Severity::Notice, "Waiting room"));
    assert!(verdict.words.starts_with("12 visitors wait in the waiting room. No class"), "{}", verdict.words);
}

#[test]
fn where_there_is_one_class_its_refusals_are_no_alarm() {
    let lately = sample(&[(70.0, 29.0, 0.0, 0.2)]);
    let mut evidence = evidence(&lately);
    evidence.classes.truncate(1);
    let words = "premium: 41 % of requests are refused.";
    says(&evidence, Severity::Warning, "Refusing", words);
}
