//! `headworks sim --policy` without sessions: the gate's policy in front of a model's server.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use gate_config::Settings;
use sim::{Closing, GateConnections, Model, ModelGate, Pace, SlowClients};
use units::{Bytes, ClassId, Ratio, Span};

use crate::exit::Failure;
use crate::values::count;

const POLICY: &str = "Policy";
const SLOW: &str = "Slow clients";

#[derive(Debug, clap::Args)]
pub(super) struct PolicyArgs {
    /// Put the policy in front of the server: a configuration of `headworks gate`. Its rules are asked about each class of a model as about GET /NAME, such as /static and /dynamic.
    #[arg(long, value_name = "FILE", help_heading = POLICY)]
    pub(super) policy: Option<PathBuf>,
    /// Processor time that passing a request on takes the gate; 0s when it has a processor of its own.
    #[arg(long, value_name = "SPAN", help_heading = POLICY, default_value = "100us", requires = "policy")]
    pub(super) gate_cost: Span,
    /// The share of a model's requests whose session token says that they are of the gate's first class, whatever the rules say.
    #[arg(long, value_name = "SHARE", help_heading = POLICY, requires = "policy")]
    pub(super) premium: Option<Ratio>,
    /// So many clients that send or take slowly keep connections of the gate, whose limits and timeouts hold for them.
    #[arg(long, value_name = "N", help_heading = SLOW, requires = "policy", value_parser = count::<u32>(1..=1_000_000))]
    slow_clients: Option<u32>,
    /// Bytes per second of a request's head that a slow client sends.
    #[arg(long, value_name = "BYTES", help_heading = SLOW, requires = "slow_clients", conflicts_with = "slow_read")]
    slow_send: Option<Bytes>,
    /// Bytes per second of a response of 100 kB that a slow client takes.
    #[arg(long, value_name = "BYTES", help_heading = SLOW, requires = "slow_clients")]
    slow_read: Option<Bytes>,
    /// Close connections only when they have run into a timeout, as a server without a gate does, and not to make room.
    #[arg(long, help_heading = SLOW, requires = "policy")]
    keep_slow: bool,
}

impl PolicyArgs {
    /// The gate of the configuration `file`, in front of the server of `model`.
    pub(super) fn gate(&self, file: &Path, model: &Model) -> Result<ModelGate, Failure> {
        let settings = Settings::read(file)?;
        let classes = model.classes.iter().map(|class| class_of(&settings, &class.name));
        Ok(ModelGate {
            classes: classes.collect::<anyhow::Result<_>>().map_err(Failure::Usage)?,
            policy: settings.policy().clone(),
            names: settings.class_names().to_vec(),
            known: self.premium.map_or(0.0, Ratio::as_f64),
            cost: self.gate_cost.as_secs_f64(),
            connections: GateConnections {
                limits: settings.connection_limits(),
                backlog: settings.backlog() as usize,
                closing: if self.keep_slow { Closing::Timeouts } else { Closing::MakesRoom },
            },
        })
    }

    /// The model with the slow clients that are given.
    pub(super) fn with_slow_clients(&self, model: Model) -> Result<Model, Failure> {
        let pace = match (self.slow_send, self.slow_read) {
            (Some(rate), _) => Some(Pace::Send(rate.0 as f64)),
            (None, Some(rate)) => {
                Some(Pace::Read { rate: rate.0 as f64, response: SlowClients::RESPONSE_BYTES })
            }
            (None, None) => None,
        };
        let slow_clients = match (self.slow_clients, pace) {
            (Some(number), Some(pace)) => Some(SlowClients::new(number, pace)),
            (Some(_), None) => {
                return Err(Failure::Usage(anyhow!(
                    "--slow-clients without what they are slow at; add --slow-send 10B or --slow-read 1kB, bytes per second"
                )));
            }
            (None, _) => model.slow_clients,
        };
        let model = Model { slow_clients, ..model };
        model.check().map_err(|why| Failure::Usage(why.into()))?;
        Ok(model)
    }
}

/// What the rules say of a request that has nothing but a path.
fn class_of(settings: &Settings, name: &str) -> anyhow::Result<ClassId> {
    let request = http::Request::get(format!("/{name}")).body(()).with_context(|| {
        format!("the gate's rules cannot be asked about the class \"{name}\", which makes no path; give it another name")
    })?;
    Ok(settings.class_of(&request, IpAddr::V4(Ipv4Addr::LOCALHOST)))
}
