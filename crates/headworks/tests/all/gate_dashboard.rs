//! The dashboard and the alerts for a gate ask for what a gate's `/metrics` has.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Collector, PATIENCE, Raw, poll_until};

use crate::asked::{grouped, labels, matchers, names};
use crate::common::Site;

const PREFIX: &str = "headworks_gate_";
/// Labels that Prometheus adds.
const ADDED: [&str; 2] = ["instance", "le"];

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib").join(name)
}

/// The queries of all panels, and of the variables above them.
fn queries(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut all: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    all.extend(variables.filter_map(|variable| Some(variable["query"]["query"].as_str()?.to_owned())));
    all
}

/// The expressions of a file of rules, which promtool has found to be one: blocks and single lines.
fn expressions(rules: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut lines = rules.lines().peekable();
    while let Some(line) = lines.next() {
        match line.trim().strip_prefix("expr: ") {
            Some("|") => {
                let mut block = String::new();
                while let Some(line) = lines.next_if(|line| line.starts_with("          ")) {
                    block += line.trim();
                    block.push(' ');
                }
                all.push(block);
            }
            Some(expression) => all.push(expression.to_owned()),
            None => {}
        }
    }
    all
}

/// `/metrics` of a gate that has a collector and has served a request of each class.
fn exposition() -> String {
    let site = Site::new();
    let collector = Collector::start("200 OK");
    site.configure(&format!(
        "telemetry = {{ endpoint = 'http://{}' }}\nclass = [{{ name = 'premium' }}, {{ name = 'basic' }}]\n\
         rule = [{{ class = 'premium', header = 'X-Tier: gold' }}]",
        collector.address()
    ));
    let mut gate = site.start();
    let mut client = Raw::connect(site.address);
    for tier in ["gold", "none"] {
        client.send(format!("GET /bytes/10 HTTP/1.1\r\nHost: localhost\r\nX-Tier: {tier}\r\n\r\n"));
        assert_eq!(client.response().status, 200);
    }
    let exposition = poll_until(PATIENCE, "a request of each class in the histograms", || {
        let page = Raw::connect(site.admin).get("/metrics").response().text().to_owned();
        let has = |class: &str| {
            page.contains(&format!(
                "headworks_gate_request_seconds_count{{class=\"{class}\",stage=\"total\"}} 1"
            ))
        };
        (has("premium") && has("basic")).then_some(page)
    });
    gate.terminate();
    exposition
}

/// Whether one of the alternatives is a value that the gate has.
fn is_known(value: &str, values: &BTreeSet<String>) -> bool {
    value.contains('$') || value.split('|').all(|value| values.contains(value))
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_what_is_there() {
    let dashboard: Value =
        serde_json::from_str(&fs::read_to_string(contrib("grafana/headworks-gate.json")).unwrap()).unwrap();
    assert_eq!(dashboard["uid"], "headworks-gate");
    let rules = fs::read_to_string(contrib("prometheus/headworks-gate.rules.yml")).unwrap();
    let mut asked = queries(&dashboard);
    assert!(asked.len() > 40, "{asked:?}");
    let expressions = expressions(&rules);
    assert_eq!(expressions.len(), rules.matches("- alert: ").count());
    asked.extend(expressions);

    let exposition = exposition();
    let mut there = labels(&exposition);
    // Of what a gate has only when sessions have ended, or when it knows its server, the declaration.
    for later in [catalogue::gate::SESSION_REQUESTS, catalogue::gate::CAPACITY] {
        let labels = later.labels().iter().map(|label| ((*label).to_owned(), BTreeSet::new()));
        there.insert(later.exposed().unwrap().into_owned(), labels.collect());
    }
    let mut wrong = Vec::new();
    for query in &asked {
        let known: BTreeMap<_, _> = names(query, &[PREFIX])
            .iter()
            .filter_map(|name| Some((name.clone(), there.get(name)?)))
            .collect();
        wrong.extend(names(query, &[PREFIX]).into_iter().filter(|name| !there.contains_key(name)));
        for (name, pairs) in matchers(query, PREFIX) {
            let Some(labels) = known.get(&name) else { continue };
            wrong.extend(pairs.into_iter().filter_map(|(label, value)| {
                let fits = labels.get(&label).is_some_and(|values| is_known(&value, values));
                (!fits && !ADDED.contains(&label.as_str())).then(|| format!("{name}{{{label}={value}}}"))
            }));
        }
        let is_there = |label: &String| {
            ADDED.contains(&label.as_str()) || known.values().any(|labels| labels.contains_key(label))
        };
        wrong.extend(grouped(query).into_iter().filter(|label| !is_there(label)));
    }
    assert!(wrong.is_empty(), "{wrong:?} is not in {exposition}");
    testkit::promtool::check_metrics(&exposition);
    // As rules, since promtool reads no dashboards.
    let as_rules = tempfile::NamedTempFile::new().unwrap();
    let queries =
        queries(&dashboard).into_iter().filter(|query| !query.starts_with("label_values")).enumerate();
    let records = queries.map(|(number, query)| {
        let query = Value::from(query.replace("$__rate_interval", "5m"));
        format!("  - {{ record: 'panel:query:{number}', expr: {query} }}\n")
    });
    let text = format!("groups:\n- name: panels\n  rules:\n{}", records.collect::<String>());
    fs::write(as_rules.path(), text).unwrap();
    testkit::promtool::check_rules(as_rules.path());
    testkit::promtool::check_rules(&contrib("prometheus/headworks-gate.rules.yml"));
}

#[test]
fn every_alert_says_what_is_the_matter_and_what_to_do() {
    let rules = fs::read_to_string(contrib("prometheus/headworks-gate.rules.yml")).unwrap();
    for alert in rules.split("- alert: ").skip(1) {
        for part in ["expr: ", "for: ", "severity: ", "summary: ", "description: "] {
            assert!(alert.contains(part), "{part}: {alert}");
        }
    }
}
