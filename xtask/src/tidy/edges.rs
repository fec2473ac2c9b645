//! Who depends on whom: the architecture is the graph of the crates, and this keeps it as drawn.

use super::complaint::Complaint;
use super::workspace::{Package, Workspace};
use crate::rules::{May, Rules};

/// Where an allowed edge is declared.
const TABLE: &str = "xtask/src/rules.rs";

pub(super) fn check(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for package in &workspace.packages {
        match rules.edges.iter().find(|(name, _)| *name == package.name) {
            Some((_, may)) => forbidden(workspace, package, *may, rules, complaints),
            None => complaints.push(Complaint::of_file(
                &package.manifest,
                format!("nothing says what {} may depend on; add it to the edges in {TABLE}", package.name),
            )),
        }
    }
    stale(workspace, rules, complaints);
}

fn forbidden(
    workspace: &Workspace,
    package: &Package,
    may: May,
    rules: &Rules,
    complaints: &mut Vec<Complaint>,
) {
    let ours = workspace.names();
    for dependency in &package.dependencies {
        let (from, to) = (package.name.as_str(), dependency.name.as_str());
        if !ours.contains(to) {
            continue;
        }
        let for_tests = rules.dev_only.contains(&to);
        let what = match (dependency.dev, for_tests) {
            (true, true) => continue,
            (false, true) => format!("{to} is for tests only; move it to [dev-dependencies]"),
            (false, false) if permits(may, to) => continue,
            (false, false) => format!(
                "{from} must not depend on {to}; move what it needs to a crate that both may use, \
                 or change the architecture and the edges in {TABLE}"
            ),
            (true, false) if permits(may, to) || listed(rules.dev_edges, from, to) => continue,
            (true, false) => {
                format!(
                    "the tests of {from} must not depend on {to}; test it where both may be used, or allow it in the dev_edges in {TABLE}"
                )
            }
        };
        complaints.push(Complaint::of_file(&package.manifest, what));
    }
}

fn stale(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    let mut complain = |what: String| complaints.push(Complaint::of_file(TABLE, what));
    let find = |name: &str| workspace.packages.iter().find(|package| package.name == name);
    for (from, may) in rules.edges {
        let Some(package) = find(from) else {
            complain(format!("there is no crate {from}; take it out of the edges"));
            continue;
        };
        let May::DependOn(allowed) = may else { continue };
        for to in allowed.iter().filter(|to| !uses(package, to, false)) {
            complain(format!("{from} may depend on {to} and does not; take it out of the edges"));
        }
    }
    for (from, allowed) in rules.dev_edges {
        for to in allowed.iter().filter(|to| !find(from).is_some_and(|package| uses(package, to, true))) {
            complain(format!(
                "the tests of {from} may depend on {to} and do not; take it out of the dev_edges"
            ));
        }
    }
}

fn permits(may: May, to: &str) -> bool {
    match may {
        May::DependOn(allowed) => allowed.contains(&to),
        May::DependOnAll => true,
    }
}

fn listed(table: &[(&str, &[&str])], from: &str, to: &str) -> bool {
    table.iter().any(|(name, allowed)| *name == from && allowed.contains(&to))
}

fn uses(package: &Package, to: &str, dev: bool) -> bool {
    package.dependencies.iter().any(|dependency| dependency.name == to && dependency.dev == dev)
}
