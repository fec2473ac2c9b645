//! `headworks sim exact`: what a model does in the long run.

use sim::exact;

use super::model::ModelArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, show};

/// Computes what a model does in the long run, without chance, where that can be done.
#[derive(Debug, clap::Args)]
pub(super) struct ExactArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Print one JSON object.
    #[arg(long, help_heading = output::HEADING)]
    json: bool,
}

impl ExactArgs {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let model = self.model.model()?;
        let solution = exact::solve(&model).map_err(|why| Failure::Usage(why.into()))?;
        show(&solution, self.json)?;
        Ok(Exit::Ok)
    }
}
