//! [`CapacityPlan`] for people.

use std::fmt;

use super::answer::{CapacityPlan, Trial};
use crate::advise::shown;
use crate::text::Seconds;

impl fmt::Display for CapacityPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  objectives   {}", self.objectives.join(", "))?;
        writeln!(
            f,
            "  rate         {:.2} requests/s, which keep {:.2} processors busy\n",
            self.rate, self.work
        )?;
        write!(f, "  {:>7} {:<18} {:>5}", "servers", "balancing", "used")?;
        for objective in &self.objectives {
            write!(f, " {objective:>26}")?;
        }
        writeln!(f)?;
        for sized in &self.servers {
            self.row(f, sized)?;
        }
        writeln!(f)?;
        self.verdict(f)?;
        self.levels(f)
    }
}

impl CapacityPlan {
    fn row(&self, f: &mut fmt::Formatter<'_>, sized: &Trial) -> fmt::Result {
        let balancing = sized.balancing.to_string();
        write!(f, "  {:>7} {balancing:<18} {:>4.0} %", sized.servers, sized.utilization * 100.0)?;
        for (objective, figure) in self.objectives.iter().zip(&sized.figures) {
            write!(f, " {:>26}", shown(objective, figure))?;
        }
        let verdict = match (sized.met, sized.figures.is_empty()) {
            (true, _) => "",
            (false, true) => "  more come than it can serve",
            (false, false) => "  not met",
        };
        writeln!(f, "{verdict}")
    }

    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = &self.found else {
            return writeln!(
                f,
                "No number of servers that was tried meets the objectives: what a request needs by itself, or a burst, is too much for them. Make requests cheaper, servers larger, or ask for less."
            );
        };
        let sum = found.servers + self.spare;
        write!(f, "It takes {}", servers(found.servers))?;
        if self.spare > 0 {
            write!(f, ", and {} with {} to spare", servers(sum), self.spare)?;
        }
        let each = match (found.quota, found.processors) {
            (Some(quota), _) => format!("a quota of {} processors", rounded(quota)),
            (None, 1) => "one processor".to_owned(),
            (None, processors) => format!("{processors} processors"),
        };
        write!(
            f,
            ", each with {each} and {} threads, of whose time {:.0} % is used",
            found.threads,
            found.utilization * 100.0
        )?;
        writeln!(
            f,
            "{}.",
            if found.servers > 1 {
                format!("; requests are given out by {}", found.balancing)
            } else {
                String::new()
            }
        )?;
        if let Some(threads) = self.threads.as_ref().filter(|threads| threads.threads < found.threads) {
            let s = if threads.threads == 1 { "" } else { "s" };
            writeln!(f, "{} thread{s} for each would do.", threads.threads)?;
        }
        match &self.one {
            Some(one) if found.servers > 1 => match one.quota {
                Some(quota) => {
                    writeln!(f, "One server would need a quota of {} processors.", rounded(quota))
                }
                None => writeln!(f, "One server would need {} processors.", one.processors),
            },
            _ => Ok(()),
        }
    }

    fn levels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(highest) = self.profile.iter().filter_map(|level| level.asked_for).max() else {
            return Ok(());
        };
        writeln!(f, "\nOver time, each step as if it lasted for ever:\n")?;
        writeln!(f, "  {:>12} {:>10} {:>8} {:>10}", "requests/s", "for", "needed", "ask for")?;
        let number = |count: Option<u32>| count.map_or("–".to_owned(), |count| count.to_string());
        let (mut hours, mut time) = (0.0, 0.0);
        for level in &self.profile {
            let asked_for = level.asked_for.unwrap_or(highest);
            writeln!(
                f,
                "  {:>12.2} {:>10} {:>8} {:>10}  {}",
                level.rate,
                Seconds(level.lasts).to_string(),
                number(level.needed),
                number(level.asked_for),
                "█".repeat((30 * asked_for).div_ceil(highest) as usize)
            )?;
            hours += level.lasts * f64::from(asked_for);
            time += level.lasts;
        }
        writeln!(
            f,
            "\nThat is {:.1} servers in the mean, {:.0} % of {highest} all of the time.",
            hours / time,
            hours / time / f64::from(highest) * 100.0
        )
    }
}

/// A quota as people write it.
fn rounded(quota: f64) -> f64 {
    (quota * 1000.0).round() / 1000.0
}

fn servers(count: u32) -> String {
    if count == 1 { "one server".to_owned() } else { format!("{count} servers") }
}
