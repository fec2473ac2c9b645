//! From what was observed to a model.

use units::Span;

use super::demands::Source as DemandSource;
use super::fitted::Fit;
use crate::model::{Class, Model, Notes, Offered, STATIC, Size};

/// There is no model without what requests cost.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{source_name} does not say what {class} requests cost, without which nothing can be predicted; give {give}"
)]
pub struct UnknownCost {
    /// The file or directory.
    pub source_name: String,
    /// Which requests.
    pub class: String,
    /// What to give.
    pub give: &'static str,
}

impl Fit {
    /// A model with the requests that were observed, and where its numbers come from.
    ///
    /// # Errors
    /// When what requests cost was neither observed nor stated.
    pub fn model(&self) -> Result<(Model, Notes), UnknownCost> {
        let mut notes = Notes::new();
        let mut note = |key: &str, text: String| notes.insert(key.to_owned(), text);
        note(
            "",
            format!("Fitted to {} ({} requests in {:.0} s).", self.source, self.requests, self.duration),
        );
        let mut model =
            Model { processors: self.processors, classes: self.classes(&mut note)?, ..Model::default() };
        if self.classes.iter().any(|class| class.service.is_none()) {
            note(
                "service",
                "Of classes that have none of their own. Not known: the paper's (section 2).".to_owned(),
            );
        } else if let Some(law) = model.only_law() {
            model.service = law;
            model.classes.iter_mut().for_each(|class| class.service = None);
            note("service", "The law that is nearest to what was observed.".to_owned());
        }
        if let Some(network) = self.network {
            note(
                "network",
                "What busy periods take longer than requests need: the network, and the client's own work."
                    .to_owned(),
            );
            model.network = Span::from_secs_f64(network).as_secs_f64();
        }
        self.requests(&mut model, &mut note);
        self.server(&mut model, &mut note);
        Ok((model, notes))
    }

    /// How many requests come, and how they are spread over time.
    fn requests(&self, model: &mut Model, note: &mut impl FnMut(&str, String) -> Option<String>) {
        if let Some((clients, think)) = self.clients {
            note("clients", "As the load generator had them; each waits for its answer.".to_owned());
            model.offered = Offered::Clients(clients, think);
            return;
        }
        let of = match self.windows.iter().filter(|window| window.is_steady()).count() {
            0 => "over all, for want of a window of constant rate".to_owned(),
            1 => "in one window of constant rate".to_owned(),
            windows => format!("in {windows} windows of constant rate"),
        };
        note("rate", format!("Requests per second {of}."));
        model.offered = Offered::Rate(self.rate);
        let Some(fitted) = &self.arrivals else {
            note("arrivals", "Not known: no window of constant rate.".to_owned());
            return;
        };
        let gaps = fitted.cv_of_gaps.map_or(String::new(), |cv| format!(", {cv:.2} of gaps"));
        note(
            "arrivals",
            format!(
                "c_v {:.2} ({:.2} to {:.2}) from counts in intervals of {} s{gaps}.",
                fitted.cv.mean,
                fitted.cv.ci[0],
                fitted.cv.ci[1],
                rounded(fitted.interval),
            ),
        );
        model.arrivals = fitted.process.clone();
    }

    /// How requests are worked on, as far as that was observed or stated.
    fn server(&self, model: &mut Model, note: &mut impl FnMut(&str, String) -> Option<String>) {
        let text = match self.threads {
            Some(threads) => {
                model.threads = threads;
                if self.is_threads_stated {
                    "As stated.".to_owned()
                } else {
                    "Found: requests took as long as where one is worked on after the other.".to_owned()
                }
            }
            None => "Not known: the paper's (section 2). Put the server's here.".to_owned(),
        };
        note("threads", text);
        note(
            "queue",
            "Not known. Put the server's here: requests that wait for a thread at most.".to_owned(),
        );
        model.queue = Some(NEVER_FULL);
        note("processors", "As stated, or one.".to_owned());
    }

    fn classes(
        &self,
        note: &mut impl FnMut(&str, String) -> Option<String>,
    ) -> Result<Vec<Class>, UnknownCost> {
        let mut classes = Vec::new();
        for class in &self.classes {
            let unknown = || UnknownCost {
                source_name: self.source.clone(),
                class: class.name.clone(),
                give: if class.name == STATIC { "--static-time" } else { "--static-time and --dynamic-cost" },
            };
            // A file knows nanoseconds and bytes; the model is the same with it and without.
            let demand = Span::from_secs_f64(class.demand.ok_or_else(unknown)?).as_secs_f64();
            let key = |key: &str| format!("{}.{key}", class.name);
            note(&key("share"), format!("{} of {} requests.", class.requests, self.requests));
            note(
                &key("demand"),
                match self.demands {
                    _ if class.stated => "As stated.".to_owned(),
                    Some(DemandSource::Replay) => {
                        "With it a server that is fed with the same arrivals has requests for as long as was observed.".to_owned()
                    }
                    Some(DemandSource::BusyPeriods) => {
                        "From how long the processor was busy with requests.".to_owned()
                    }
                    Some(DemandSource::Stopwatch) => {
                        "Processor time in user mode, in the kernel and in soft interrupts, measured in the server.".to_owned()
                    }
                    _ => "The processor's share that it had, over its time in the server.".to_owned(),
                },
            );
            let size = class.size.map(|size| {
                note(&key("size"), format!("Of {} complete responses, in bytes.", size.count));
                Size { mean: size.mean.round(), cv: rounded(size.cv) }
            });
            let service = class.service.inspect(|_| {
                note(&key("service"), "The law that is nearest to what was observed.".to_owned());
            });
            classes.push(Class { size, service, ..Class::new(&class.name, class.share, demand) });
        }
        Ok(classes)
    }
}

/// A queue that nothing is known of does not reject anything that matters.
const NEVER_FULL: u32 = 1000;

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
