//! `headworks sim --policy` without sessions: the gate's policy in front of a model's server.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use gate_config::Settings;
use sim::{Model, ModelGate};
use units::{ClassId, Ratio, Span};

use crate::exit::Failure;

const POLICY: &str = "Policy";

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
        })
    }
}

/// What the rules say of a request that has nothing but a path.
fn class_of(settings: &Settings, name: &str) -> anyhow::Result<ClassId> {
    let request = http::Request::get(format!("/{name}")).body(()).with_context(|| {
        format!("the gate's rules cannot be asked about the class \"{name}\", which makes no path; give it another name")
    })?;
    Ok(settings.class_of(&request, IpAddr::V4(Ipv4Addr::LOCALHOST)))
}
