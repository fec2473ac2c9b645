//! What it costs to find a request's class, by how many rules of which kind are tried in vain.
#![allow(missing_docs, reason = "criterion's macro makes a function that cannot be documented")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use gate_config::Settings;
use http::Request;

/// Settings with so many rules, each as `condition` writes it.
fn settings(rules: usize, condition: impl Fn(usize) -> String) -> Option<Settings> {
    let mut text = "listen = '127.0.0.1:0'\nupstream = '127.0.0.1:8000'\n".to_owned();
    for number in 0..rules {
        // Writing to a String cannot fail.
        let _ = write!(text, "[[rule]]\nclass = 'premium'\n{}\n", condition(number));
    }
    Settings::from_source(&config::Source::new("gate.toml", text), Path::new(".")).ok()
}

/// As a browser asks.
fn browser() -> http::request::Builder {
    Request::get("/catalogue/shoes/blue?size=42&colour=blue&page=3")
        .header("host", "shop.example.com")
        .header("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
        .header("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
        .header("accept-language", "en-GB,en;q=0.5")
        .header("cookie", "a=1; consent=yes; theme=dark; id=0123456789abcdef; cart=empty")
}

fn rules(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rules");
    let mixed = |number: usize| match number % 5 {
        0 => format!("cookie = 'tier{number}=premium'"),
        1 => format!("path = '/section{number}/'"),
        2 => format!("host = 'shop{number}.example.com'"),
        3 => format!("query = 'campaign{number}'"),
        _ => format!("header = 'X-Tier-{number}'"),
    };
    let same_cookie = |number: usize| format!("cookie = 'id={number}'");
    let glob = |number: usize| format!("path = '*/section{number}/*.html'");
    let when = |number: usize| {
        format!(
            "when = \"request.path.startsWith('/section{number}/') && request.headers['x-tier'] == 'gold'\""
        )
    };
    let many_cookies = (0..500).map(|number| format!("c{number}=1; ")).collect::<String>();
    let cases = [
        ("none", settings(0, mixed), String::new()),
        ("1 cookie", settings(1, mixed), String::new()),
        ("1000 mixed", settings(1000, mixed), String::new()),
        ("1000 mixed, 500 cookies", settings(1000, mixed), many_cookies),
        ("1000 on one cookie", settings(1000, same_cookie), String::new()),
        ("1000 patterns", settings(1000, glob), String::new()),
        ("1 expression", settings(1, when), String::new()),
        ("1000 expressions", settings(1000, when), String::new()),
    ];
    for (name, settings, cookies) in cases {
        let request = browser().header("cookie", cookies).body(());
        let (Some(settings), Ok(request)) = (settings, request) else { continue };
        let address = [192, 0, 2, 7].into();
        group.bench_function(name, |bencher| {
            bencher.iter(|| settings.class_of(black_box(&request), address));
        });
    }
    group.finish();
}

criterion_group!(benches, rules);
criterion_main!(benches);
