//! [`verdict`]: is anybody suffering?

use tui::figures::{number, time};

use super::failing::Failing;
use super::figures::Lately;
use crate::api::state::State;

/// Refused of what is offered, or given up by clients, above which a class suffers.
const MUCH_LOST: f64 = 0.01;
/// Failing servers that are named.
const MAX_NAMED: usize = 3;
/// A wait in the gate above which a class suffers whose patience is not known, s: the flow of thought is interrupted
/// (Miller 1968).
const LONG_WAIT: f64 = 1.0;
/// And where it is known, the share of it: who waits longer has begun to leave.
const OF_PATIENCE: f64 = 0.5;

/// An answer in a sentence or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

/// Who suffers, and from what.
pub(crate) fn verdict(state: &State, classes: &[Lately], unclassified: f64, failing: &[Failing]) -> Verdict {
    let servers = &state.upstream.servers;
    let down: Vec<&str> = servers
        .iter()
        .filter(|server| server.standing == "ejected" || server.standing == "ill")
        .map(|server| server.address.as_str())
        .collect();
    let plights: Vec<String> = classes.iter().filter_map(|class| plight(state, class)).collect();
    let mut sentences = Vec::new();
    if !servers.is_empty() && down.len() == servers.len() {
        sentences.push(format!("No server is up ({}).", down.join(", ")));
    }
    if unclassified > 0.0 {
        sentences.push(format!("{}/s are refused before their class is known.", number(unclassified)));
    }
    sentences.extend(failures(failing, &down));
    let is_bad = !plights.is_empty() || !sentences.is_empty();
    if !plights.is_empty() {
        let well: Vec<&str> = classes
            .iter()
            .filter(|class| class.offered > 0.0 && plight(state, class).is_none())
            .map(|class| class.name.as_str())
            .collect();
        let well = if well.is_empty() { String::new() } else { format!("; {} well served", list_are(&well)) };
        sentences.push(format!("{}{well}.", plights.join("; ")));
    } else if !is_bad {
        sentences.push(match classes.iter().map(|class| class.offered).sum::<f64>() {
            offered if offered > 0.0 => "No class suffers.".to_owned(),
            _ => "No class suffers: no requests come.".to_owned(),
        });
    }
    if !down.is_empty() && down.len() < servers.len() {
        sentences.push(format!("{} of {} servers down ({}).", down.len(), servers.len(), down.join(", ")));
    }
    Verdict { text: sentences.join(" "), is_bad }
}

fn plight(state: &State, class: &Lately) -> Option<String> {
    let name = &class.name;
    let patience = state.classes.iter().find(|of| of.name == *name).map_or(0.0, |of| of.patience);
    let long = if patience > 0.0 { patience * OF_PATIENCE } else { LONG_WAIT };
    let share = class.refused_share();
    let verb = if state.is_shadow() { "would be refused" } else { "refused" };
    let refused =
        (share > MUCH_LOST).then(|| format!("{:.0} % {verb} ({}/s)", share * 100.0, number(class.refused)));
    let left = class.aborted_share();
    let left = (left > MUCH_LOST)
        .then(|| format!("{:.0} % of clients gave up ({}/s)", left * 100.0, number(class.aborted)));
    let waits = class.wait.filter(|wait| *wait > long).map(|wait| format!("waits {}", time(wait)));
    let what: Vec<String> = [refused, left, waits].into_iter().flatten().collect();
    (!what.is_empty()).then(|| format!("{name} suffers: {}", what.join(", ")))
}

/// Servers that are up and fail requests.
fn failures(failing: &[Failing], down: &[&str]) -> Option<String> {
    let up: Vec<&Failing> =
        failing.iter().filter(|server| !down.contains(&server.address.as_str())).collect();
    let one = |Failing { address, share, rate }: &&Failing| {
        format!("{address} fails {:.0} % of its requests ({}/s)", share * 100.0, number(*rate))
    };
    let mut texts: Vec<String> = up.iter().take(MAX_NAMED).map(one).collect();
    if let Some(more @ 1..) = up.len().checked_sub(MAX_NAMED) {
        texts.push(format!("{more} more servers fail"));
    }
    (!texts.is_empty()).then(|| format!("{}.", texts.join("; ")))
}

fn list_are(names: &[&str]) -> String {
    match names {
        [one] => format!("{one} is"),
        [all @ .., last] => format!("{} and {last} are", all.join(", ")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::told::figures::lately;

    #[track_caller]
    fn said(state: &State, refused: f64, wait: f64, unclassified: f64) -> String {
        let sample = samples::sample(1.0, refused, wait);
        let names = samples::names();
        verdict(state, &lately(state, &names, &[&sample]), unclassified, &[]).text
    }

    #[test]
    fn clients_that_gave_up_have_suffered() {
        let mut sample = samples::sample(1.0, 0.0, 0.01);
        sample.classes[1].aborted = 30.0;
        sample.classes[1].served = 70.0;
        let classes = lately(&samples::state(), &samples::names(), &[&sample]);
        let Verdict { text, is_bad } = verdict(&samples::state(), &classes, 0.0, &[]);
        assert_eq!(text, "basic suffers: 30 % of clients gave up (30/s); premium is well served.");
        assert!(is_bad);
    }

    #[test]
    fn servers_that_fail_are_named() {
        let mut state = samples::state();
        let classes = lately(&state, &samples::names(), &[&samples::sample(1.0, 0.0, 0.01)]);
        let failing = |address: &str| Failing { address: address.to_owned(), share: 0.4, rate: 12.0 };
        let one = [failing("10.0.0.2:80")];
        let Verdict { text, is_bad } = verdict(&state, &classes, 0.0, &one);
        assert_eq!(text, "10.0.0.2:80 fails 40 % of its requests (12/s).");
        assert!(is_bad);
        let many: Vec<_> = (1..=5).map(|host| failing(&format!("10.0.1.{host}:80"))).collect();
        assert!(verdict(&state, &classes, 0.0, &many).text.ends_with("; 2 more servers fail."));
        state.upstream.servers[1].standing = "ejected".to_owned();
        let text = verdict(&state, &classes, 0.0, &one).text;
        assert_eq!(text, "No class suffers. 1 of 2 servers down (10.0.0.2:80).", "once");
    }

    #[test]
    fn who_suffers_and_from_what() {
        let mut state = samples::state();
        assert_eq!(said(&state, 0.0, 0.01, 0.0), "No class suffers.");
        assert_eq!(said(&state, 0.5, 0.01, 0.0), "No class suffers.", "less than a hundredth is refused");
        assert_eq!(
            said(&state, 60.0, 2.0, 0.0),
            "basic suffers: 60 % refused (60/s), waits 2.00 s; premium is well served."
        );
        assert_eq!(said(&state, 0.0, 0.0, 7.0), "7/s are refused before their class is known.");
        state.classes[1].patience = 8.0;
        assert_eq!(said(&state, 0.0, 3.0, 0.0), "No class suffers.", "its users wait for longer");
        state.upstream.servers[0].standing = "ejected".to_owned();
        assert_eq!(said(&state, 0.0, 0.0, 0.0), "No class suffers. 1 of 2 servers down (10.0.0.1:80).");
        state.upstream.servers[1].standing = "ill".to_owned();
        assert_eq!(said(&state, 0.0, 0.0, 0.0), "No server is up (10.0.0.1:80, 10.0.0.2:80).");
        state.mode = "shadow".to_owned();
        assert!(said(&state, 60.0, 0.0, 0.0).contains("60 % would be refused"));
    }
}
