//! [`Advice`] for people.

use std::fmt;

use stats::MeanEstimate;

use super::settings::Advice;
use super::trial::Trial;
use crate::text::{Seconds, percent};

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  objectives   {}", self.objectives.join(", "))?;
        if self.limit_added {
            write!(
                f,
                " (the last is the paper's rule, for want of another: any latency can be had by rejecting nearly everything)"
            )?;
        }
        writeln!(f, "\n\nThe largest load with which each setting meets them, as far as was tried:\n")?;
        write!(f, "  {:>7} {:>6} {:>7} {:>10} {:>20}", "threads", "queue", "load", "requests/s", "served/s")?;
        for objective in &self.objectives {
            write!(f, " {objective:>24}")?;
        }
        writeln!(f)?;
        for trial in &self.trials {
            self.row(f, trial)?;
        }
        writeln!(f, "\nAs it is:")?;
        self.row(f, &self.now)?;
        writeln!(f)?;
        self.verdict(f)
    }
}

impl Advice {
    fn row(&self, f: &mut fmt::Formatter<'_>, trial: &Trial) -> fmt::Result {
        let queue = queue(trial);
        write!(
            f,
            "  {:>7} {queue:>6} {:>7} {:>10.2} {:>20}",
            trial.threads,
            format!("{}{:.3}", if trial.at_least { ">" } else { "" }, trial.load),
            trial.rate,
            format!("{:.2} ± {:.2}", trial.throughput.mean, trial.throughput.half_width()),
        )?;
        for (objective, figure) in self.objectives.iter().zip(&trial.figures) {
            write!(f, " {:>24}", shown(objective, figure))?;
        }
        writeln!(f, "{}", if trial.met { "" } else { "  not met" })
    }

    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = |trial: &Trial| figures(&self.objectives, &trial.figures);
        let Some(best) = &self.best else {
            return writeln!(
                f,
                "Nothing that was tried meets the objectives, not even at a load of {:.2}: what requests need by themselves is too much, or their bursts are. Make them cheaper, or ask for less.",
                self.trials.iter().map(|trial| trial.load).fold(f64::INFINITY, f64::min),
            );
        };
        let advice = if best.at_least {
            "The objectives set no limit: they are met at every load that was tried, up to"
        } else {
            "Admit at most"
        };
        let beyond = if best.at_least { "" } else { ", and reject what comes beyond" };
        writeln!(
            f,
            "{advice} {:.2} requests per second, {:.1} % of what the processors can serve, with {} threads and a queue of {}{beyond}: then {}.",
            best.rate,
            best.load * 100.0,
            best.threads,
            queue(best),
            figures(best),
        )?;
        if self.now.met {
            writeln!(f, "The server as it is meets the objectives at its load of {:.3}.", self.now.load)?;
        } else {
            writeln!(
                f,
                "The server as it is does not meet them at its load of {:.3}: {}.",
                self.now.load,
                figures(&self.now),
            )?;
        }
        if let Some(own) = self
            .trials
            .iter()
            .find(|trial| trial.met && (trial.threads, trial.queue) == (self.now.threads, self.now.queue))
        {
            writeln!(
                f,
                "With the threads and the queue that it has, it can take {}{:.2} requests per second.",
                if own.at_least { "at least " } else { "" },
                own.rate
            )?;
        }
        if self.now.load > best.load {
            writeln!(
                f,
                "It is offered {:.2}: to meet the objectives, {:.1} % of them must go elsewhere, or requests must become that much cheaper.",
                self.now.rate,
                (1.0 - best.load / self.now.load) * 100.0,
            )?;
        }
        Ok(())
    }
}

fn queue(trial: &Trial) -> String {
    trial.queue.map_or("none".to_owned(), |queue| queue.to_string())
}

fn name(objective: &str) -> &str {
    objective.split('<').next().unwrap_or(objective).trim()
}

/// What the objectives came to.
pub(super) fn figures(objectives: &[String], figures: &[MeanEstimate]) -> String {
    let all = objectives.iter().zip(figures);
    let each = all.map(|(objective, figure)| format!("{} is {}", name(objective), shown(objective, figure)));
    each.collect::<Vec<_>>().join(", ")
}

pub(crate) fn shown(objective: &str, figure: &MeanEstimate) -> String {
    // Classes come before the figure.
    if name(objective).ends_with("rejected") || name(objective).ends_with("lost") {
        percent(figure, 2)
    } else {
        format!("{} ± {}", Seconds(figure.mean), Seconds(figure.half_width()))
    }
}
