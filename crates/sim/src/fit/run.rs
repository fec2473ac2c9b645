//! Requests of a run of the load generator.

use std::path::Path;

use record::{RequestError, RequestRow, RunDirectory, RunInfo};
use traffic::Think;
use units::Span;

use super::observation::{Observation, ObservationError, Origin, Request};
use crate::dynamic::is_dynamic;

/// What the model thinks that clients do who never pause: a model needs some time.
const NO_THINKING: f64 = 1e-6;

impl Observation {
    /// Reads a run directory. Requests count that were due in the measuring window, or in a step of a ramp.
    ///
    /// # Errors
    /// When it cannot be read, or has too few requests to say anything of.
    pub fn of_run(path: &Path) -> Result<Self, ObservationError> {
        let directory = RunDirectory::open(path)?;
        let info = directory.info()?;
        let (from, to) = (info.window.from_ns, info.window.to_ns);
        let mut requests = Vec::new();
        for row in directory.requests()? {
            let row = row?;
            if (from..to).contains(&row.intended.as_nanos()) {
                requests.push(request(&row, from));
            }
        }
        let seconds = |ns: u64| (ns.max(from) - from) as f64 / 1e9;
        Self {
            source: path.display().to_string(),
            origin: Origin::Run,
            requests,
            resolution: 1e-9,
            skipped: 0,
            unread: Vec::new(),
            zero: None,
            ended: seconds(to),
            steps: info.steps.iter().map(|step| (seconds(step.from_ns), seconds(step.to_ns.min(to)))).collect(),
            clients: clients(&info),
            remarks: vec![
                "How long the server had a request is measured by its client: the network between them and the client's own work are part of it, and of what requests need where busy periods do not tell them from that.".to_owned(),
            ],
        }
        .checked()
    }
}

fn request(row: &RequestRow, from: u64) -> Request {
    let sent = row.started + row.dns_ns + row.connect_ns + row.tls_ns;
    let seconds = |at: u64| at.cast_signed().wrapping_sub(from.cast_signed()) as f64 / 1e9;
    let complete = !matches!(row.error, Some(RequestError::Timeout | RequestError::Censored));
    Request {
        at: seconds(row.intended.as_nanos()),
        dynamic: is_dynamic(&row.url_class),
        status: row.status.filter(|_| complete),
        bytes: (row.error.is_none()).then_some(row.bytes),
        took: row.processing_ns.map(Span::as_secs_f64),
        began: Some(seconds(sent.as_nanos())),
    }
}

/// Clients that wait for their answers, where the load was made by them.
fn clients(info: &RunInfo) -> Option<(u32, f64)> {
    if info.spec.contains_key("rate") || !info.steps.is_empty() {
        return None;
    }
    let clients = u32::try_from(info.spec.get("connections")?.as_integer()?).ok()?;
    let think = info.spec.get("think").and_then(|think| think.as_str()?.parse::<Think>().ok());
    Some((clients, think.map_or(NO_THINKING, |think| think.mean().as_secs_f64()).max(NO_THINKING)))
}
