//! `headworks doctor`: what can be watched on this machine.

use anyhow::anyhow;
use serde_json::json;
use watch::doctor::{Finding, examine};

use crate::exit::{Exit, Failure};
use crate::output::print;

/// Says what `headworks watch` can do on this machine, and what is lost where the kernel does not allow the best; exit code 1 if anything is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print it as one JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let found = examine();
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        if self.json {
            let findings: Vec<_> = found.iter().map(described).collect();
            print(json!({ "kernel": kernel, "findings": findings }).to_string() + "\n")?;
        } else {
            print(found.iter().map(|finding| line(finding, &kernel)).collect::<String>())?;
        }
        let missing = found.iter().filter(|finding| finding.refused.is_some()).count();
        if missing == 0 {
            return Ok(Exit::Ok);
        }
        Err(Failure::Failed(anyhow!("{missing} of {} mechanisms are missing here", found.len())))
    }
}

fn line(finding: &Finding, kernel: &str) -> String {
    let Finding { mechanism, needs, refused, lost } = finding;
    match refused {
        None => format!("works    {mechanism}\n"),
        Some(why) => format!(
            "missing  {mechanism}: {why}\n         it needs {needs}; this is Linux {kernel}\n         lost without it: {lost}\n"
        ),
    }
}

fn described(finding: &Finding) -> serde_json::Value {
    json!({
        "mechanism": finding.mechanism,
        "works": finding.refused.is_none(),
        "why": finding.refused.as_ref().map(ToString::to_string),
        "needs": finding.needs,
        "lost": finding.lost,
    })
}
