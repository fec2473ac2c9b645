//! Whether a queue without a limit stays finite.

use super::class::Class;
use super::discipline::Discipline;
use super::equipment::Equipment;
use super::error::ModelError;
use super::server::Model;
use super::tier::Call;
use crate::draw::Service;
use crate::mva::mva;

/// What a request needs of each station on average, in seconds.
struct Needs {
    cpu: f64,
    disk: f64,
    /// Of each tier.
    tiers: Vec<f64>,
    link: f64,
    /// A client's link, and its connection after that: one request does not wait there for
    /// another.
    alone: f64,
}

impl Model {
    fn needs(&self) -> Needs {
        let Equipment { link, client, keep_alive, .. } = self.equipment;
        let total: f64 = self.classes.iter().map(|class| class.share).sum();
        let mean = |value: &dyn Fn(&Class) -> f64| {
            self.classes.iter().map(|class| class.share * value(class)).sum::<f64>() / total
        };
        let bytes = mean(&|class| class.size.map_or(0.0, |size| size.mean));
        let over = |rate: Option<f64>| rate.map_or(0.0, |rate| bytes / rate);
        Needs {
            cpu: mean(&|class| class.demand),
            disk: mean(&|class| class.disk),
            tiers: (0..self.tiers.len())
                .map(|tier| {
                    mean(&|class| {
                        let calls = class.calls.iter().filter(|call| call.tier == tier);
                        calls.map(Call::mean).sum()
                    })
                })
                .collect(),
            link: over(link),
            alone: over(client) + keep_alive.unwrap_or(0.0),
        }
    }

    /// Requests per second that the server surely cannot keep up with, and what limits it.
    fn limit(&self) -> (f64, String) {
        let Needs { cpu, disk, tiers, link, alone } = self.needs();
        let (threads, processors) = (f64::from(self.threads), self.usable_processors());
        let stations = [
            (processors / cpu, "its processors serve".to_owned()),
            (f64::from(self.equipment.disks) / disk, "its disks serve".to_owned()),
            (link.recip(), "its link carries".to_owned()),
        ];
        let behind = self.tiers.iter().zip(&tiers).map(|(tier, demand)| {
            let number = f64::from(tier.processors.min(tier.threads));
            (number / demand, format!("the tier \"{}\" serves", tier.name))
        });
        let total: f64 = self.classes.iter().map(|class| class.share).sum();
        let pools = self.classes.iter().filter_map(|class| {
            let held = class.demand + class.disk + class.calls.iter().map(Call::mean).sum::<f64>();
            let most = f64::from(class.workers?) / (held * class.share / total);
            Some((most, format!("the workers of the class \"{}\" serve", class.name)))
        });
        let station =
            stations.into_iter().chain(behind).chain(pools).min_by(|one, other| one.0.total_cmp(&other.0));
        let (most, limit) = station.unwrap_or((f64::INFINITY, String::new()));
        // While all threads are taken they are clients of a closed network, who begin anew at once.
        let demands = [cpu, disk, link];
        let held = if self.is_product_form(disk) {
            mva(&demands, self.threads, alone).throughput
        } else {
            // No request holds a thread for less than its demands.
            threads / (demands.iter().chain(&tiers).sum::<f64>() + alone)
        };
        if held > most * (1.0 - AS_MANY) {
            return (most, limit);
        }
        (held, format!("its threads, each held for {:.3} ms by a request, serve", 1e3 * threads / held))
    }

    /// Whether mean value analysis is exact when all threads are taken (Baskett, Chandy, Muntz and Palacios,
    /// "Open, closed, and mixed networks of queues with different classes of customers", 1975).
    fn is_product_form(&self, disk: f64) -> bool {
        let plain = self.only_law() == Some(Service::Exponential) && self.classes.len() == 1;
        // What a request needs may count for its rank then.
        let is_blind = self.discipline != Discipline::ShortestRemaining;
        let sharing = self.discipline == Discipline::Sharing || (plain && is_blind);
        let disks = disk <= 0.0 || (plain && self.equipment.disks == 1);
        sharing && disks && self.processors == 1 && self.quota.is_none() && self.has_no_more()
    }

    /// Neither tiers nor workers of a class.
    pub(crate) fn has_no_more(&self) -> bool {
        self.tiers.is_empty() && self.classes.iter().all(|class| class.workers.is_none())
    }

    /// # Errors
    /// Where more requests come than the server can serve, and all of them wait.
    pub(super) fn check_stability(&self) -> Result<(), ModelError> {
        let (None, Some(rate)) = (self.queue, self.rate()) else { return Ok(()) };
        let (most, limit) = self.limit();
        let most = most * f64::from(self.fleet.servers);
        if rate < most * (1.0 - ROUNDING) {
            return Ok(());
        }
        let load = most * self.mean_demand() / self.all_usable_processors();
        Err(ModelError::Unstable { rate, limit, most, load })
    }
}

/// So many threads that they make no more difference than this are not the limit.
const AS_MANY: f64 = 1e-4;

/// A load that was given comes out of the division by it as one of so little less.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Offered, Size};
    use crate::{Plan, run};

    /// 10 ms of the processor and 12 kB, for one processor.
    fn model() -> Model {
        let size = Some(Size { mean: 12_000.0, cv: 1.0 });
        Model {
            classes: vec![Class { size, ..Class::new("all", 1.0, 0.010) }],
            threads: 20,
            queue: None,
            ..Model::default()
        }
    }

    #[track_caller]
    fn check(model: &Model, most: f64, says: &str) {
        let at = |rate| Model { offered: Offered::Rate(rate), ..model.clone() };
        let why = at(most * 1.001).check().unwrap_err().to_string();
        assert!(why.contains(says), "{why}");
        assert_eq!(at(most * 0.999).check(), Ok(()));
        let limited = Model { queue: Some(50), ..at(most * 3.0) };
        let plan = Plan { requests: 20_000, replications: 4, precision: None, ..Plan::default() };
        let throughput = run(&limited, &plan).unwrap().throughput.mean;
        assert!((0.97..1.03).contains(&(throughput / most)), "{throughput}, not {most}");
    }

    #[test]
    fn every_station_and_the_threads_limit_a_queue_without_end() {
        check(&model(), 100.0, "its processors serve 100.0 at most");
        check(&Model { threads: 2, processors: 4, ..model() }, 200.0, "each held for 10.000 ms");
        let equipment = |equipment| Model { equipment, ..model() };
        let none = Equipment::default();
        check(&equipment(Equipment { keep_alive: Some(5.0), ..none }), 3.992, "its threads");
        // 12 ms each: 83.3 responses a second.
        check(&equipment(Equipment { link: Some(1e6), ..none }), 82.96, "its threads");
        let many = Model { threads: 400, ..equipment(Equipment { link: Some(1e6), ..none }) };
        check(&many, 83.33, "at most");
        check(&equipment(Equipment { client: Some(12_000.0), ..none }), 19.76, "its threads");
        let disk = vec![Class { disk: 0.020, ..Class::new("all", 1.0, 0.010) }];
        check(
            &Model { classes: disk, threads: 1000, service: Service::Constant, ..model() },
            50.0,
            "its disks",
        );
    }
}
