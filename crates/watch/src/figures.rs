//! What all groups say by name, for the record.

use catalogue::Metric;
use catalogue::watch::{connections, limits as metrics, requests};

use crate::{Summary, limits};

/// One figure: its metric, what it is of (empty when it is of the whole machine), and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What it is.
    pub(crate) metric: Metric,
    /// The name of a program, an interface or a state, a port, or nothing.
    pub(crate) label: String,
    /// In the metric's unit.
    pub(crate) value: f64,
}

/// Figures as they come together.
#[derive(Default)]
struct Figures(Vec<Figure>);

impl Figures {
    /// Those of one thing. What is not a number, such as a rate over no time, is left out.
    fn add(&mut self, label: &str, figures: impl IntoIterator<Item = (Metric, f64)>) {
        let known = figures.into_iter().filter(|(_, value)| value.is_finite());
        self.0.extend(known.map(|(metric, value)| Figure { metric, label: label.to_owned(), value }));
    }

    fn add_limits(&mut self, limits: &limits::Rates) {
        self.add("", limits.sockets.figures());
        for (number, busy) in &limits.processors {
            self.add(&number.to_string(), [(metrics::PROCESSOR, *busy)]);
        }
        let outgoing = [
            (metrics::OUTGOING, &limits.outgoing),
            (metrics::OUTGOING_AWAITED, &limits.outgoing_awaited),
            (metrics::OUTGOING_UNACCEPTED, &limits.outgoing_unaccepted),
            (metrics::PARTS_UNACCEPTED, &limits.parts_unaccepted),
        ];
        for (metric, counts) in outgoing {
            for (to, count) in counts {
                self.add(to, [(metric, *count as f64)]);
            }
        }
        let used = [
            (metrics::OTHERS, &limits.others),
            (metrics::BEHIND, &limits.behind),
            (metrics::BEHIND_CRYPTOGRAPHY, &limits.behind_cryptography),
        ];
        for (metric, programs) in used {
            for (program, used) in programs {
                self.add(program, [(metric, *used)]);
            }
        }
        for (name, program) in &limits.programs {
            self.add(name, program.figures());
        }
        for (name, disk) in &limits.disks {
            self.add(name, disk.figures());
        }
        for (name, queue) in &limits.queues {
            self.add(name, queue.figures());
        }
    }
}

impl Summary {
    /// Every figure there is.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Figures::default();
        if let Some(kernel) = &self.kernel {
            figures.add("", kernel.figures());
        }
        for (program, rates) in &self.processes {
            figures.add(program, rates.figures());
        }
        for (interface, rates) in &self.network {
            figures.add(interface, rates.figures());
        }
        for (state, count) in &self.connections {
            figures.add(state, [(connections::CONNECTIONS, *count as f64)]);
        }
        for (port, queue) in &self.listen_queues {
            figures.add(&port.to_string(), queue.figures());
        }
        if let Some(limits) = &self.limits {
            figures.add_limits(limits);
        }
        for (class, rates) in &self.requests {
            figures.add(class, rates.figures());
        }
        for class in &self.silent {
            let none = [requests::BYTES_RATE, requests::COUNT, requests::RATE];
            figures.add(class, none.map(|metric| (metric, 0.0)));
        }
        if let Some(waits) = &self.waits {
            figures.add("", waits.figures());
        }
        if let Some(followed) = &self.followed {
            figures.add("", followed.figures());
        }
        figures.0
    }
}
