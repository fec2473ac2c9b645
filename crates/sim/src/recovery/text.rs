//! [`RecoveryMap`] for people.

use std::fmt;

use super::map::RecoveryMap;
use super::trial::RecoveryTrial;
use crate::text::Seconds;

impl fmt::Display for RecoveryMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  After {} at {} times what the server can serve, clients that wait {}: the median time until {:.0} % are answered in time again, for {} at least.\n",
            Seconds(self.surge_lasts),
            self.surge_load,
            Seconds(self.patience),
            self.share * 100.0,
            Seconds(self.lasting),
        )?;
        let loads = self.rows.first().map_or(&[][..], |row| &row.trials);
        write!(f, "  {:>8}", "retries")?;
        for trial in loads {
            write!(f, " {:>22}", format!("load {}", trial.load))?;
        }
        writeln!(f, "  comes back up to a load of")?;
        for row in &self.rows {
            write!(f, "  {:>8}", row.retries)?;
            for trial in &row.trials {
                write!(f, " {:>22}", trial.to_string())?;
            }
            match row.border {
                Some(border) => {
                    let [surely, half, hardly] =
                        [border.surely, border.half, border.hardly].map(|load| f64::from(load) / 100.0);
                    writeln!(f, "  {half:.2} (surely {surely:.2}, hardly {hardly:.2})")?;
                }
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
            "Times are medians with 95 % intervals; \"never\" is not within {}, and \"in 30 %\" in so many of the replications. Surely is in nine of ten of them, hardly in one of ten.",
            Seconds(self.within)
        )?;
        let trials = self.rows.iter().flat_map(|row| &row.trials);
        let badly = trials.filter(|trial| trial.calm < self.share).map(|trial| trial.load);
        let least = badly.fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            writeln!(
                f,
                "At a load of {least} fewer than {:.0} % are answered in time even before the surge.",
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
            return if self.recovers.value > 0.0 {
                write!(f, "in {:.0} %", self.recovers.value * 100.0)
            } else {
                f.write_str("never")
            };
        };
        let short = |seconds: f64| format!("{seconds:.1}");
        write!(f, "{} s", short(time.value))?;
        if let Some([low, high]) = time.ci {
            write!(f, " ({} to {})", short(low), short(high))?;
        }
        if self.recovers.value < 1.0 {
            write!(f, " in {:.0} %", self.recovers.value * 100.0)?;
        }
        Ok(())
    }
}
