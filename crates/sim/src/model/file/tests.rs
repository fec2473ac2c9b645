use std::path::Path;

use config::Source;

use super::Notes;
use crate::model::{
    Balancing, Call, Class, Discipline, Equipment, Fleet, Model, Offered, Pace, Patience, Quota, Retries,
    Size, SlowClients, Tier,
};
use crate::{Arrivals, Observed, Service};

fn parse(text: &str) -> Result<Model, String> {
    Model::parse(&Source::new("model.toml", text), Path::new(".")).map_err(|why| why.to_string())
}

fn tier(name: &str, discipline: Discipline) -> Tier {
    Tier { name: name.to_owned(), processors: 4, threads: 20, discipline }
}

#[track_caller]
fn check_round_trip(model: &Model) {
    let notes = Notes::from([
        (String::new(), "Two lines\nof text".to_owned()),
        ("arrivals".to_owned(), "from counts".to_owned()),
    ]);
    let text = model.to_toml(&notes).unwrap();
    if !matches!(model.offered, Offered::Clients(..)) {
        assert!(text.starts_with("# Two lines\n# of text\n\n# from counts\narrivals = "), "{text}");
    }
    assert_eq!(parse(&text).as_ref(), Ok(model), "{text}");
}

#[test]
fn what_is_written_is_read_as_it_was() {
    check_round_trip(&Model::default());
    let tiered = Model {
        arrivals: "mmpp:5:10s:60s".parse().unwrap(),
        offered: Offered::Rate(123.4),
        classes: vec![
            Class {
                disk: 0.002,
                workers: Some(8),
                calls: vec![
                    Call { tier: 1, demand: 0.003, share: 0.25, times: 2 },
                    Call { tier: 0, demand: 0.001, share: 1.0, times: 1 },
                ],
                service: Some(Service::Constant),
                ..Class::new("with \"quotes\"", 3.0, 0.000_123)
            },
            Class { size: Some(Size { mean: 12_000.0, cv: 2.5 }), ..Class::new("b", 0.5, 1.25) },
        ],
        service: Service::lognormal(1.5).unwrap(),
        threads: 7,
        queue: Some(66),
        discipline: Discipline::RoundRobin(units::Span::from_millis(10)),
        processors: 2,
        fleet: Fleet::default(),
        tiers: vec![tier("a", Discipline::FirstCome), tier("b", Discipline::Sharing)],
        equipment: Equipment { disks: 2, link: Some(1e6), client: Some(5e4), keep_alive: Some(5.0) },
        quota: None,
        network: 0.001,
        drops: true,
        patience: Some(Patience { mean: 1.5, law: Service::Exponential }),
        retries: Some(Retries { share: 0.5, delay: 2.0, backoff: 2.0, most: 3, anew: true }),
        slow_clients: Some(SlowClients {
            addresses: 7,
            patience: 2.5,
            ..SlowClients::new(1000, Pace::Read { rate: 500.0, response: 1e6 })
        }),
    };
    check_round_trip(&tiered);
    check_round_trip(&Model {
        fleet: Fleet { servers: 3, balancing: Balancing::PowerOfTwo },
        ..Model::default()
    });
    check_round_trip(&Model { network: 0.000_134, ..Model::default() });
    let quota = Some(Quota { processors: 2.5, period: 0.05 });
    check_round_trip(&Model { processors: 4, quota, ..Model::default() });
    let slow_clients = Some(SlowClients::new(3, Pace::Send(10.0)));
    check_round_trip(&Model { slow_clients, ..Model::default() });
    check_round_trip(&Model { offered: Offered::Clients(50, 5.0), queue: None, ..Model::default() });
    check_round_trip(&Model { arrivals: "h2:3".parse().unwrap(), ..Model::default() });
}

#[test]
fn an_empty_file_is_the_paper_s_server() {
    assert_eq!(parse(""), Ok(Model::default()));
}

#[test]
fn a_trace_stands_beside_the_file() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("times.txt"), "1.0\n1.5\n3.0\n").unwrap();
    let file = directory.path().join("model.toml");
    std::fs::write(&file, "arrivals = 'trace:times.txt'").unwrap();
    let model = Model::read(&file).unwrap();
    assert_eq!(model.arrivals, Arrivals::Observed(Observed::new(&[1.0, 1.5, 3.0]).unwrap()));
    assert_eq!(model.offered, Offered::Rate(1.0));
    std::fs::write(&file, "load = 0.5\narrivals = 'trace:times.txt'").unwrap();
    assert_eq!(Model::read(&file).unwrap().offered, Offered::Load(0.5));
    assert!(model.to_toml(&Notes::new()).is_err());
}

#[test]
fn a_log_says_which_requests_are_dynamic() {
    let directory = tempfile::tempdir().unwrap();
    let line = |second: u32, url: &str| {
        format!("::1 - - [10/Oct/2000:13:55:{second} -0700] \"GET {url} HTTP/1.1\" 200 5\n")
    };
    let log = [(10, "/"), (11, "/a.php"), (13, "/b.php"), (14, "/"), (20, "/c.css?v=1")]
        .map(|(at, url)| line(at, url))
        .concat();
    std::fs::write(directory.path().join("access.log"), log).unwrap();
    let file = directory.path().join("model.toml");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Model::read(&file).map_err(|why| why.to_string())
    };
    let class =
        |name: &str, share: f64| format!("[[class]]\nname = '{name}'\nshare = {share}\ndemand = '1ms'\n");
    let model =
        read(&format!("arrivals = 'log:access.log'\n{}{}", class("static", 1.0), class("dynamic", 1.0)))
            .unwrap();
    // The first begins the first gap.
    assert_eq!(model.arrivals.dynamic_share(), Some(0.5));
    assert_eq!(model.offered, Offered::Rate(0.4));
    let Arrivals::Observed(observed) = &model.arrivals else { panic!("{:?}", model.arrivals) };
    assert_eq!(observed.dynamic.as_deref(), Some([true, true, false, false].as_slice()));
    let error =
        read(&format!("arrivals = 'log:access.log'\n{}{}", class("static", 30.0), class("dynamic", 1.0)))
            .unwrap_err();
    assert!(
        error.contains("model's share of dynamic requests is 0.0323, and that of the log 0.5000"),
        "{error}"
    );
    for classes in [class("static", 1.0), class("static", 1.0) + &class("dynamic", 1.0) + &class("api", 1.0)]
    {
        let error = read(&format!("arrivals = 'log:access.log'\n{classes}")).unwrap_err();
        assert!(
            error.contains("requests of a log are static and dynamic, and the model has static"),
            "{error}"
        );
    }
    // What is written beside a model is read as the same arrivals.
    std::fs::write(directory.path().join("again.log"), observed.lines()).unwrap();
    let again = read(&model.to_toml_beside("again.log")).unwrap();
    assert_eq!(again.arrivals.dynamic_share(), Some(0.5));
    let Arrivals::Observed(again) = &again.arrivals else { panic!("{:?}", again.arrivals) };
    assert_eq!(again.dynamic, observed.dynamic);
    assert!(again.gaps.iter().zip(observed.gaps.iter()).all(|(one, other)| (one - other).abs() < 1e-6));
}

#[test]
fn errors_say_where() {
    let class = "[[class]]\nname = 'a'\nshare = 1\ndemand = '5ms'\n";
    for (text, says) in [
        ("quue = 5", "model.toml:1: unknown key \"quue\"; did you mean \"queue\"?"),
        ("\narrivals = 'h3:2'", "model.toml:2: no such arrival process: \"h3\""),
        ("\n\nthreads = 0", "model.toml:3: the number of threads must be from 1 to 1000000, not 0"),
        (
            "threads = 5\nqueue = 'none'\nload = 1.5",
            "model.toml:3: with 14.42 requests per second (a load of 1.500)",
        ),
        ("arrivals = 'h2:2'\nclients = 5\nthink = '1s'", "model.toml:1: arrivals are given, and clients"),
        (
            "clients = 5\nthink = '1s'\n[retries]\nshare = 1\ndelay = '1s'\nmost = 3",
            "model.toml:1: retries have no",
        ),
        (
            "[equipment]\nlink = '1MB'",
            "model.toml:2: the model has links, and no class of requests has a size",
        ),
        ("processors = 2\nquota = 2", "a quota of 2 processors leaves the server all it has (2)"),
        ("quota-period = '10ms'", "model.toml:1: quota-period is given without quota"),
        ("queue = 'none'\nquota = 0.5\nload = 1.0", "a load of 1.000"),
        ("[equipment]\ndisks = 2", "model.toml:2: the model has disks"),
        ("queue = 'some'", "or \"none\" for no limit"),
        ("load = 1\nrate = 5", "model.toml:2: load and rate both say how many requests there are; keep one"),
        ("clients = 5", "model.toml:1: clients is given without think"),
        ("drops = true", "model.toml:1: a full queue that drops requests leaves clients waiting"),
        (
            "clients = 5\nthink = '1s'\n[patience]\nmean = '1s'",
            "model.toml:1: clients that give up have no meaning",
        ),
        ("[[tier]]\nname = 'a'\nthreads = 5", "model.toml:1: the model has a tier, and no class"),
        ("[[class]]\nname = 'a'\nshare = 1", "model.toml:1: class \"a\" has no demand; say what"),
        ("[[class]]\nname = 'a'\nshare = 1\nsamples = 'none.txt'", "model.toml:4: cannot read"),
        (
            "[[class]]\nname = 'a'\nshare = 1\ndemand = '1ms'\ncalls = [{ tier = 'b', demand = '1ms' }]",
            "model.toml:5: tier \"b\" is not defined; define it",
        ),
        ("think = '5s'", "model.toml:1: think is given without clients"),
        ("arrivals = 'trace:no-such-file'", "model.toml:1: cannot read ./no-such-file"),
        ("[equipment]\nlink = '0B'", "model.toml:2: the speed of the server's link"),
        ("service = 'gamma:0'", "model.toml:1: gamma service times need"),
        ("[[class]]\nname = 'a'\nshare = 1", "demand"),
        (&format!("{class}size-cv = 2"), "model.toml:5: size-cv is given without size"),
        (&format!("{class}{class}"), "model.toml:6: class \"a\" is defined twice"),
        (&format!("threads = 5\n{}", class.replace('5', "0")), "model.toml:2: the mean time that a request"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
}
