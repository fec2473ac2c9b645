//! [`Look`]: everything at one moment, in little room.

use catalogue::watch::connections::WAITING;
use catalogue::watch::requests::{BYTES_RATE, RATE};

use crate::counts::Counted;
use crate::figures::Figure;
use crate::{kernel, processes};

/// What is looked at, by its names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    pub(super) programs: Vec<String>,
    pub(super) ports: Vec<u16>,
    pub(super) classes: Vec<String>,
}

/// Sums since the machine was started, or since the watch began; what is not looked at is not there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    pub(crate) kernel: Option<kernel::Sample>,
    pub(crate) processes: Option<processes::Sample>,
    pub(crate) counted: Option<Counted>,
    /// By port.
    pub(crate) waiting: Vec<u64>,
}

impl Look {
    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        let programs = self.processes.as_ref().map_or(0, |sample| size_of_val(&sample.programs[..]));
        let classes = self.counted.as_ref().map_or(0, |counted| size_of_val(&counted.classes[..]));
        // A little more is lost between them.
        size_of::<Self>() + programs + classes + size_of_val(&self.waiting[..]) + 64
    }

    /// What went on since another one, so many seconds before.
    pub(super) fn since(&self, before: &Self, seconds: f64, names: &Names) -> Vec<Figure> {
        let mut figures = Vec::new();
        let mut add = |label: &str, metric, value: f64| {
            if value.is_finite() {
                figures.push(Figure { metric, label: label.to_owned(), value });
            }
        };
        if let Some((before, after)) = before.kernel.as_ref().zip(self.kernel.as_ref()) {
            let rates = kernel::rates(before, after);
            rates.figures().for_each(|(metric, value)| add("", metric, value));
        }
        if let Some((before, after)) = before.processes.as_ref().zip(self.processes.as_ref()) {
            for (name, rates) in names.programs.iter().zip(processes::rates(before, after)) {
                rates.figures().for_each(|(metric, value)| add(name, metric, value));
            }
        }
        for (port, waiting) in names.ports.iter().zip(&self.waiting) {
            add(&port.to_string(), WAITING, *waiting as f64);
        }
        if let Some((before, after)) = before.counted.as_ref().zip(self.counted.as_ref()) {
            let seen = after.since(before);
            for (name, class) in names.classes.iter().zip(&seen.classes) {
                // One that has grown has left its class.
                let per_second = |sum: u64| sum.cast_signed() as f64 / seconds;
                add(name, RATE, per_second(class.requests));
                add(name, BYTES_RATE, per_second(class.bytes));
            }
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;
    use crate::counts::{OfClass, Protocols};

    #[test]
    fn between_two_looks_there_are_rates() {
        let names = Names {
            programs: vec!["server".to_owned()],
            ports: vec![80],
            classes: vec!["0-50k".to_owned(), "50k-".to_owned()],
        };
        let look = |age: u64, requests: u64, waiting: u64| Look {
            kernel: None,
            processes: Some(processes::Sample {
                uptime: Span::from_millis(age),
                programs: vec![processes::Program { cpu: Span::from_millis(age / 2), ..Default::default() }],
            }),
            counted: Some(Counted {
                classes: vec![OfClass { requests, bytes: 100 * requests, ..Default::default() }; 2],
                protocols: Protocols::default(),
                other_bytes: 0,
            }),
            waiting: vec![waiting],
        };
        let figures = look(20, 7, 3).since(&look(10, 5, 1), 0.01, &names);
        let value = |name: &str, label: &str| {
            let found = figures.iter().find(|figure| figure.metric.name() == name && figure.label == label);
            found.unwrap().value
        };
        assert_eq!(value("processes.cpu", "server"), 0.5);
        assert_eq!(value("listen_queue.waiting", "80"), 3.0);
        assert_eq!(value("requests.rate", "50k-"), 200.0);
        assert_eq!(value("requests.bytes_rate", "0-50k"), 20_000.0);
        assert!(look(0, 0, 0).size() < 1000);
    }
}
