//! [`Plan`]: who simulates how much.

use super::simulator::{Length, Simulator};

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) lengths: Vec<(Simulator, Length)>,
    pub(super) rounds: u32,
    /// Whether figures of it are worth keeping.
    pub(super) of_record: bool,
}

/// Requests of a replication that do not count: several times what the queue remembers.
const WARMUP: u32 = 2_000;
const REQUESTS: u32 = 200_000;
/// In Python a replication of that length would take all the time there is, and intervals need several.
const FEW_REQUESTS: u32 = 20_000;

impl Plan {
    /// A few seconds for each, seven times.
    pub(super) fn full() -> Self {
        Self { lengths: lengths([400, 300, 10, 40, 5]), rounds: 7, of_record: true }
    }

    /// Whether all of it works, in half a minute.
    pub(super) fn quick() -> Self {
        Self { lengths: lengths([80, 60, 4, 8, 4]), rounds: 2, of_record: false }
    }

    pub(super) fn length(&self, of: Simulator) -> Option<Length> {
        self.lengths.iter().find(|(simulator, _)| *simulator == of).map(|(_, length)| *length)
    }
}

/// Replications of ours, of the C++ program, with SimPy in both ways and with Ciw.
fn lengths([ours, plain, processes, callbacks, ciw]: [u32; 5]) -> Vec<(Simulator, Length)> {
    let lengths = Simulator::ALL.map(|simulator| {
        let (replications, requests) = match simulator {
            Simulator::Headworks | Simulator::AllCores => (ours, REQUESTS),
            Simulator::Plain => (plain, REQUESTS),
            Simulator::SimPyProcesses => (processes, FEW_REQUESTS),
            Simulator::SimPyCallbacks => (callbacks, FEW_REQUESTS),
            Simulator::Ciw => (ciw, FEW_REQUESTS),
        };
        (simulator, Length { replications, warmup: WARMUP, requests })
    });
    lengths.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numbers_of_cores_simulate_the_same() {
        for plan in [Plan::full(), Plan::quick()] {
            assert_eq!(plan.length(Simulator::Headworks), plan.length(Simulator::AllCores));
            assert_eq!(plan.lengths.len(), Simulator::ALL.len());
            // `headworks sim` would make shorter replications longer.
            assert!(plan.lengths.iter().all(|(_, length)| length.requests >= 10 * length.warmup));
        }
    }
}
