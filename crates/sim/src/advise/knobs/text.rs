//! [`KnobAdvice`] for people.

use std::fmt;

use super::advice::{KnobAdvice, KnobTrial};
use crate::advise::text::{figures, shown};
use crate::text::{Seconds, found_full};

impl fmt::Display for KnobAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  objectives   {}", self.objectives.join(", "))?;
        let load = self.load.map_or_else(String::new, |load| format!(" at a load of {load:.3}"));
        writeln!(f, "\nWhat each pair of knobs does{load}, with the same requests for all:\n")?;
        write!(f, "  {:>15} {:>6} {:>10}", "differentiation", "favour", "served/s")?;
        for class in &self.now.classes {
            for figure in ["served", "p90"] {
                write!(f, " {:>16}", format!("{} {figure}", class.name))?;
            }
        }
        for objective in &self.objectives {
            write!(f, " {objective:>24}")?;
        }
        writeln!(f)?;
        for trial in &self.trials {
            self.row(f, trial)?;
        }
        writeln!(f, "\nAs the gate is configured:")?;
        self.row(f, &self.now)?;
        writeln!(f)?;
        self.verdict(f)
    }
}

impl KnobAdvice {
    /// A sentence for the case that the best pair of knobs lets more pass than there is room for; when no pair
    /// is best, about the gate as it is.
    pub fn about_gate(&self) -> Option<String> {
        found_full(&self.best.as_ref().unwrap_or(&self.now).classes)
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, trial: &KnobTrial) -> fmt::Result {
        let KnobTrial { differentiation, favour, throughput, .. } = trial;
        write!(f, "  {differentiation:>15.3} {favour:>6.3} {:>10.2}", throughput.mean)?;
        for class in &trial.classes {
            let served = format!("{:.2} %", class.served.mean * 100.0);
            write!(f, " {served:>16} {:>16}", Seconds(class.latency.p90.mean).to_string())?;
        }
        for (objective, figure) in self.objectives.iter().zip(&trial.figures) {
            write!(f, " {:>24}", shown(objective, figure))?;
        }
        writeln!(f, "{}", if trial.met { "" } else { "  not met" })
    }

    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = &self.now;
        let Some(best) = &self.best else {
            return writeln!(
                f,
                "No pair of knobs that was tried meets the objectives at this load. Ask for less, look for another window or other deadlines of the gate, or offer less: without a gate, this command finds the load to admit."
            );
        };
        let served = best.classes.iter().map(|class| {
            format!(
                "{:.2} requests per second of {} ({:.2} %)",
                class.throughput.mean,
                class.name,
                class.served.mean * 100.0
            )
        });
        writeln!(
            f,
            "Set differentiation to {} and favour to {}: then {} are served, and {}.",
            best.differentiation,
            best.favour,
            served.collect::<Vec<_>>().join(" and "),
            figures(&self.objectives, &best.figures),
        )?;
        writeln!(
            f,
            "The gate as it is configured, with {} and {}, {}: {}.",
            now.differentiation,
            now.favour,
            if now.met { "meets the objectives too" } else { "does not meet them" },
            figures(&self.objectives, &now.figures),
        )?;
        if self.favour_is_idle() {
            writeln!(
                f,
                "Favour makes no difference here: it sets the target queue lengths, and either the classes have a target-queue of their own or their queues never grow that long."
            )?;
        }
        Ok(())
    }

    /// Whether there are trials that differ in favour alone, and favour changes nothing in what they found.
    fn favour_is_idle(&self) -> bool {
        let same = |pair: &[KnobTrial]| pair[0].differentiation == pair[1].differentiation;
        let mut pairs = self.trials.windows(2).filter(|pair| same(pair)).peekable();
        pairs.peek().is_some() && pairs.all(|pair| pair[0].classes == pair[1].classes)
    }
}
