//! What can be checked before anything is measured.

use std::path::Path;

use super::plan::Planned;
use crate::contender::gate;
use crate::error::Error;
use crate::server::start;
use crate::spec::experiment::Spec;
use crate::spec::subject::Contender;

/// Whether all that the tests need can be had; gives the version of the server.
pub(crate) fn check(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<String, Error> {
    let version = start::check(&spec.server, headworks)?;
    check_servers(spec, plan, headworks)?;
    check_gates(spec, plan, headworks)?;
    spec.subjects.iter().filter_map(|subject| subject.contender()).try_for_each(Contender::check)?;
    Ok(version)
}

/// Levels that do not go together, and servers that are not installed, are found out before anything is measured.
fn check_servers(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<(), Error> {
    let mut checked = Vec::new();
    for test in plan.iter().filter(|test| !test.own.is_empty()) {
        if !checked.contains(&&test.own) {
            start::check(&test.spec(spec)?.server, headworks).map_err(|error| match error {
                Error::Directives { .. } => Error::Levels { levels: test.name(), why: error.to_string() },
                error => error,
            })?;
            checked.push(&test.own);
        }
    }
    Ok(())
}

/// Lets the gate judge all settings that it will be started with.
fn check_gates(spec: &Spec, plan: &[Planned], headworks: &Path) -> Result<(), Error> {
    let mut checked = Vec::new();
    for test in plan.iter().filter(|test| test.subject.has_gate()) {
        let Some(settings) = spec.gate_with(&test.settings) else { continue };
        if !checked.contains(&settings) {
            gate::check(headworks, &settings)?;
            checked.push(settings);
        }
    }
    Ok(())
}
