//! What all groups say by name, for the record.

use record::Viewpoint;
use serde::Serialize;
use serde_json::Value;

use crate::{Summary, limits};

/// One figure: its metric, what it is of (empty when it is of the whole machine), and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Its name, with the group's in front: `kernel.cpu_user`.
    pub(crate) metric: String,
    /// The name of a program, an interface or a state, a port, or nothing.
    pub(crate) label: String,
    /// Its value; units as in the group's `Rates`.
    pub(crate) value: f64,
    /// Whose view it is.
    pub(crate) viewpoint: Viewpoint,
}

impl Figure {
    /// Of the server's view.
    fn new(metric: String, label: &str, value: f64) -> Self {
        Self { metric, label: label.to_owned(), value, viewpoint: Viewpoint::Server }
    }
}

impl Summary {
    /// Every figure there is.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        if let Some(kernel) = &self.kernel {
            figures.extend(named("kernel", "", kernel));
        }
        for (program, rates) in &self.processes {
            figures.extend(named("processes", program, rates));
        }
        for (interface, rates) in &self.network {
            figures.extend(of_network(named("network", interface, rates)));
        }
        let count =
            |(state, count): (&String, &u64)| Figure::new("connections".to_owned(), state, *count as f64);
        figures.extend(self.connections.iter().map(count));
        for (port, queue) in &self.listen_queues {
            figures.extend(named("listen_queue", &port.to_string(), queue));
        }
        if let Some(limits) = &self.limits {
            figures.extend(of_limits(limits));
        }
        for (class, rates) in &self.requests {
            figures.extend(named("requests", class, rates));
        }
        if let Some(waits) = &self.waits {
            figures.extend(named("waits", "", waits));
            figures.extend(named("waits.accept", "", &waits.accept));
            figures.extend(named("waits.read", "", &waits.read));
        }
        if let Some(followed) = &self.followed {
            figures.extend(named("followed", "", followed));
        }
        figures
    }
}

fn of_limits(limits: &limits::Rates) -> Vec<Figure> {
    let mut figures = named("limits.sockets", "", &limits.sockets);
    for (number, busy) in &limits.processors {
        figures.push(Figure::new("limits.processor".to_owned(), &number.to_string(), *busy));
    }
    for (port, count) in &limits.outgoing {
        figures.push(Figure::new("limits.outgoing".to_owned(), &port.to_string(), *count as f64));
    }
    for (name, rates) in &limits.programs {
        figures.extend(named("limits.program", name, rates));
    }
    for (name, rates) in &limits.disks {
        figures.extend(named("limits.disk", name, rates));
    }
    for (name, rates) in &limits.queues {
        figures.extend(of_network(named("limits.queue", name, rates)));
    }
    figures
}

/// What is seen at an interface, or of the queue in front of it.
fn of_network(figures: Vec<Figure>) -> impl Iterator<Item = Figure> {
    figures.into_iter().map(|figure| Figure { viewpoint: Viewpoint::Network, ..figure })
}

fn named(group: &str, label: &str, rates: &impl Serialize) -> Vec<Figure> {
    let Ok(Value::Object(fields)) = serde_json::to_value(rates) else { return Vec::new() };
    let figure =
        |(name, value): (String, Value)| Some(Figure::new(format!("{group}.{name}"), label, value.as_f64()?));
    fields.into_iter().filter_map(figure).collect()
}
