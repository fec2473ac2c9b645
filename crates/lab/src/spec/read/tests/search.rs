//! `[search]`, and what is told of its factors.

use super::*;

const GOOD: &str = r#"[experiment]
title = "Capacity"

[server]
kind = "origin"

[workload]
url = "/bytes/10"

[[factor]]
name = "server.workers"
levels = [1, 2, 4]
[factor.published]
source = "a paper"
rates = { 1 = 7300, 4 = 10400.5 }

[search]
crowd = 4
hold = "1s"
"#;

#[test]
fn a_search_is_read_with_its_factor_s_published_rates() {
    let spec = read(GOOD, &[]).unwrap();
    let Capacity::Searched(searched) = &spec.capacity else { panic!("{:?}", spec.capacity) };
    let crowd = searched.crowd.unwrap();
    assert_eq!((crowd.clients.get(), crowd.hold), (4, Span::from_secs(1)));
    let published = spec.factors[0].published.as_ref().unwrap();
    let rates: Vec<(&str, f64)> = published.rates.iter().map(|(level, rate)| (&**level, *rate)).collect();
    assert_eq!((&*published.source, &*rates), ("a paper", &[("1", 7300.0), ("4", 10400.5)][..]));

    let spec = read(GOOD, &["search.warmup=2s"]).unwrap();
    let Capacity::Searched(searched) = &spec.capacity else { panic!("{:?}", spec.capacity) };
    assert_eq!(searched.crowd.unwrap().warmup, Some(Span::from_secs(2)));

    let spec = read(&GOOD.replace("hold = \"1s\"\n", ""), &[]).unwrap();
    let Capacity::Searched(searched) = &spec.capacity else { panic!("{:?}", spec.capacity) };
    assert_eq!(searched.crowd.unwrap().hold, crate::spec::defaults::HOLD);
}

/// As in the tests of `[server]`.
const WRONG: &[(&str, &str, &str)] = &[
    ("hold = \"1s\"", "hold = \"99ms\"", "spec.toml:19: hold is below 100ms; give more"),
    ("crowd = 4", "crowd = 0", "spec.toml:18: a crowd of 0 clients; give at least 1"),
    (
        "4 = 10400.5",
        "3 = 10400.5",
        "spec.toml:15: published: \"3\" is not one of the levels; they are 1, 2, 4",
    ),
    ("4 = 10400.5", "4 = -1.0", "spec.toml:15: published: -1 is not a rate; give requests a second, above 0"),
    (
        "1 = 7300, ",
        "",
        "spec.toml:13: published: nothing of level 1, which the others are compared with; give its rate, or put another level first",
    ),
];

#[test]
fn what_does_not_go_together_is_said() {
    refused_of(GOOD, WRONG);
    let published = "levels = [0.7, 2]\npublished = { source = \"a paper\", rates = { 2 = 1.0 } }";
    let text = super::GOOD.replace("levels = [0.7, 2]", published);
    assert!(read(&text, &[]).unwrap_err().contains("nothing of level 0.7"));
    let text = text.replace("2 = 1.0", "\"0.7\" = 1.0");
    assert!(read(&text, &[]).unwrap_err().contains("there is no [search]"));
}
