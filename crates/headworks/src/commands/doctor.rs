//! `headworks doctor`: what can be watched on this machine.

use crate::exit::{Exit, Failure};
use crate::output::print;

/// Says what `headworks watch` can do on this machine, and what is lost where the kernel does not allow the best.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let mut text = String::new();
        for found in watch::doctor::examine() {
            text += &match found.refused {
                None => format!("works    {}\n", found.mechanism),
                Some(why) => {
                    format!("missing  {}: {why}\n         lost without it: {}\n", found.mechanism, found.lost)
                }
            };
        }
        print(text)?;
        Ok(Exit::Ok)
    }
}
