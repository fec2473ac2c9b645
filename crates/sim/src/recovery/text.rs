//! [`RecoveryMap`] for people.

use std::fmt;

use super::map::{Boundary, RecoveryMap};
use super::trial::RecoveryTrial;
use crate::text::Seconds;

impl fmt::Display for RecoveryMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  After {} at {} times what the processors can serve, clients that wait {}: the median time until {:.0} % are answered in time again, for {} and for {} requests at least.\n",
            Seconds(self.surge_lasts),
            self.surge_load,
            Seconds(self.patience),
            self.share * 100.0,
            Seconds(self.lasting),
            self.requests,
        )?;
        let loads = self.rows.first().map_or(&[][..], |row| &row.trials);
        write!(f, "  {:>8}", "retries")?;
        for trial in loads {
            write!(f, " {:>25}", format!("load {}", trial.load))?;
        }
        writeln!(f, "  recovers up to a load of")?;
        for row in &self.rows {
            write!(f, "  {:>8}", row.retries)?;
            for at in 0..loads.len() {
                let cell = row.trials.get(at).map_or("–".to_owned(), ToString::to_string);
                write!(f, " {cell:>25}")?;
            }
            match row.boundary {
                Some(Boundary { p90, p50, p10 }) => writeln!(f, "  {p50:.2} ({p90:.2} to {p10:.2})")?,
                None => writeln!(f, "  –")?,
            }
        }
        writeln!(f)?;
        self.remarks(f)
    }
}

impl RecoveryMap {
    fn remarks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Times have 95 % intervals; \"never\" is not within {}, and \"in 30 %\" in so many of the replications. The last column: in half of them; in parentheses, in nine of ten and in one of ten.",
            Seconds(self.within)
        )?;
        let trials = self.rows.iter().flat_map(|row| &row.trials);
        let badly = trials.filter(|trial| trial.in_time_before < self.share).map(|trial| trial.load);
        let least = badly.fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            writeln!(
                f,
                "At a load of {least} fewer than {:.0} % are answered in time even before the surge: the server is too small for it.",
                self.share * 100.0
            )?;
        }
        if self.interrupted {
            writeln!(f, "INTERRUPTED: less was simulated than was asked for")?;
        }
        Ok(())
    }
}

impl fmt::Display for RecoveryTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(time) = self.time else {
            return if self.probability.value > 0.0 {
                write!(f, "in {:.0} %", self.probability.value * 100.0)
            } else {
                f.write_str("never")
            };
        };
        write!(f, "{}", short(time.value))?;
        if let Some([low, high]) = time.ci {
            write!(f, " ({} to {})", short(low), short(high))?;
        }
        if self.probability.value < 1.0 {
            write!(f, " in {:.0} %", self.probability.value * 100.0)?;
        }
        Ok(())
    }
}

fn short(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}
