//! [`Solver`]: how each is asked for a queue.

use super::queue::Queue;
use crate::sim::simulator::{CPU, OTHERS, Programs};

/// What solves or simulates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Solver {
    /// `headworks sim exact`.
    Exact,
    /// `headworks sim`.
    Simulated,
    Ciw,
    /// LINE's mean value analysis.
    LineMva,
    /// Its Markov chain.
    LineCtmc,
    /// Its simulator.
    LineLdes,
}

impl Solver {
    pub(super) const ALL: [Self; 6] =
        [Self::Exact, Self::Simulated, Self::Ciw, Self::LineMva, Self::LineCtmc, Self::LineLdes];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exact => "headworks sim exact",
            Self::Simulated => "headworks sim",
            Self::Ciw => "Ciw",
            Self::LineMva => "LINE, MVA",
            Self::LineCtmc => "LINE, CTMC",
            Self::LineLdes => "LINE, LDES",
        }
    }

    /// Whether it takes such a queue: mean value analysis knows no rejections, and a chain has to end.
    pub(super) fn takes(self, queue: Queue) -> bool {
        match self {
            Self::LineMva => queue != Queue::Mm4With20,
            Self::LineCtmc => queue == Queue::Mm4With20,
            _ => true,
        }
    }

    /// The whole command line.
    pub(super) fn command(self, programs: &Programs, queue: Queue) -> Vec<String> {
        let headworks = programs.headworks.display().to_string();
        let python = programs.python.display().to_string();
        let script = |name: &str| format!("{OTHERS}/queue_with_{name}.py");
        let (program, before): (&str, Vec<String>) = match self {
            Self::Exact => (&headworks, ["sim", "exact", "--json"].map(str::to_owned).into()),
            Self::Simulated => {
                let options =
                    ["sim", "--json", "--cores", "1", "--precision", "0.005", "--replications", "4000"];
                (&headworks, options.map(str::to_owned).into())
            }
            Self::Ciw => (&python, vec!["-B".to_owned(), script("ciw")]),
            Self::LineMva => (&python, vec!["-B".to_owned(), script("line"), "--method=mva".to_owned()]),
            Self::LineCtmc => (&python, vec!["-B".to_owned(), script("line"), "--method=ctmc".to_owned()]),
            Self::LineLdes => (&python, vec!["-B".to_owned(), script("line"), "--method=ldes".to_owned()]),
        };
        let mut command: Vec<String> = ["taskset", "-c", CPU, program].map(str::to_owned).into();
        command.extend(before);
        command.extend(queue.options().iter().map(|word| (*word).to_owned()));
        if self != Self::Exact {
            command.extend(["--seed", "1"].map(str::to_owned));
        }
        command
    }
}
