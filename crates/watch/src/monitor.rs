//! [`Monitor`]: all groups together, and what went on between two looks at them.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use units::Span;

use crate::{Chosen, Error, Mechanism, Source as _, kernel, network, processes};

/// All groups.
pub struct Monitor {
    programs: Vec<String>,
    kernel: Chosen<kernel::Sample>,
    processes: Chosen<processes::Sample>,
}

/// What was seen at one moment.
#[derive(Debug, Clone)]
pub struct Look {
    /// The kernel as a whole.
    pub kernel: kernel::Sample,
    /// The programs.
    pub processes: processes::Sample,
    /// The network interfaces.
    pub network: network::Sample,
    /// How long it took to look.
    pub took: Span,
}

/// What went on between two looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The kernel as a whole.
    pub kernel: kernel::Rates,
    /// By program.
    pub processes: BTreeMap<String, processes::Rates>,
    /// By interface.
    pub network: BTreeMap<String, network::Rates>,
}

impl Monitor {
    /// Makes ready to look at the kernel and at all processes of these programs.
    pub fn open(programs: &[String]) -> Self {
        Self {
            programs: programs.to_vec(),
            kernel: Chosen::of(kernel::Traced::open(), || kernel::Proc),
            processes: Chosen::of(processes::Traced::open(programs), || processes::Proc::open(programs)),
        }
    }

    /// By what mechanism each group is looked at, and why not by a better one.
    pub fn mechanisms(&self) -> [(&'static str, Mechanism, Option<&Error>); 2] {
        [
            ("kernel", self.kernel.mechanism(), self.kernel.refused()),
            ("processes", self.processes.mechanism(), self.processes.refused()),
        ]
    }

    /// Looks at everything.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn look(&mut self) -> Result<Look, Error> {
        let began = Instant::now();
        let (kernel, processes) = (self.kernel.sample()?, self.processes.sample()?);
        let network = network::Proc.sample()?;
        Ok(Look { kernel, processes, network, took: Span::from(began.elapsed()) })
    }

    /// What went on between two looks.
    pub fn between(&self, before: &Look, after: &Look) -> Summary {
        let rates = processes::rates(&before.processes, &after.processes);
        Summary {
            kernel: kernel::rates(&before.kernel, &after.kernel),
            processes: self.programs.iter().cloned().zip(rates).collect(),
            network: network::rates(&before.network, &after.network).collect(),
        }
    }
}
