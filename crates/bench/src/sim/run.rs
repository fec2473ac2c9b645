//! One run: a simulator to its end, and what it cost.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::plan::Plan;
use super::simulator::{Programs, Simulator, Told};
use crate::results::machine::{Processors, Shares};

/// Time in which any of them has to end.
pub(super) const DEADLINE: Duration = Duration::from_secs(600);

/// One run as it is kept.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    #[serde(skip)]
    pub(super) of: Simulator,
    pub(super) simulator: &'static str,
    pub(super) round: u32,
    pub(super) command: String,
    /// Why there is no figure in it.
    pub(super) failure: Option<String>,
    #[serde(flatten)]
    pub(super) cost: Option<Cost>,
    pub(super) told: Option<Told>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) cpu_s: f64,
    pub(super) wall_s: f64,
    /// Of all processors.
    pub(super) machine: Shares,
    /// Share of all processors that the simulator did not use.
    pub(super) others: f64,
}

impl Run {
    /// Events per second of processor time.
    pub(super) fn speed(&self) -> Option<f64> {
        let (told, cost) = self.told.as_ref().zip(self.cost)?;
        Some(told.events as f64 / cost.cpu_s)
    }

    /// Events per second, by the clock.
    pub(super) fn speed_by_clock(&self) -> Option<f64> {
        let (told, cost) = self.told.as_ref().zip(self.cost)?;
        Some(told.events as f64 / cost.wall_s)
    }
}

/// Runs a simulator once. What fails, fails this run: the others are worth having.
pub(super) fn measure(of: Simulator, plan: &Plan, programs: &Programs, round: u32, processors: u32) -> Run {
    let mut run = Run {
        of,
        simulator: of.name(),
        round,
        command: String::new(),
        failure: None,
        cost: None,
        told: None,
    };
    if let Err(error) = simulate(&mut run, plan, programs, processors) {
        run.failure = Some(format!("{error:#}"));
    }
    run
}

fn simulate(run: &mut Run, plan: &Plan, programs: &Programs, processors: u32) -> anyhow::Result<()> {
    let length = plan.length(run.of).context("not in the plan")?;
    let words = run.of.command(programs, length, run.round + 1);
    run.command = testbed::quote(&words);
    let before = Processors::now()?;
    let ended = testbed::run(Command::new(&words[0]).args(&words[1..]), DEADLINE)?;
    let machine = Processors::now()?.since(before);
    if !ended.status.success() {
        bail!("{}: {}", ended.status, ended.stderr.trim());
    }
    let (cpu_s, wall_s) = ((ended.user + ended.system).as_secs_f64(), ended.wall.as_secs_f64());
    let others = (machine.busy - cpu_s / (wall_s * f64::from(processors))).max(0.0);
    run.cost = Some(Cost { cpu_s, wall_s, machine, others });
    run.told = Some(run.of.read(&ended.stdout)?);
    Ok(())
}
