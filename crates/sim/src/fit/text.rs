//! [`Fit`] for people.

use std::fmt;

use super::classes::FittedClass;
use super::demands::Source as DemandSource;
use super::fitted::Fit;
use super::observation::Origin;
use super::windows::{Window, WindowVerdict};
use crate::text::Seconds;

/// Windows that are shown one by one.
const SHOWN: usize = 24;

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} requests in {}", self.source, self.requests, Seconds(self.duration))?;
        if self.skipped > 0 {
            writeln!(f, "  {} lines could not be read", self.skipped)?;
        }
        writeln!(f, "  rate         {:.3} requests/s", self.rate)?;
        self.arrivals(f)?;
        self.windows.iter().take(SHOWN).try_for_each(|window| self.window(f, window))?;
        if self.windows.len() > SHOWN {
            writeln!(f, "  ... and {} more windows (--json has all)", self.windows.len() - SHOWN)?;
        }
        self.classes.iter().try_for_each(|class| self.class(f, class))?;
        if let Some(utilization) = self.utilization {
            writeln!(
                f,
                "  load         {:.3} of what {} can serve",
                utilization,
                processors(self.processors)
            )?;
        }
        if !self.status.is_empty() {
            write!(f, "  status      ")?;
            self.status.iter().try_for_each(|(status, count)| write!(f, " {status}: {count}"))?;
            writeln!(f)?;
        }
        if self.rejected > 0.0 {
            writeln!(f, "  rejected     {:.3} % (429 and 503)", self.rejected * 100.0)?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "  note: {remark}"))
    }
}

fn processors(count: u32) -> String {
    if count == 1 { "one processor".to_owned() } else { format!("{count} processors") }
}

impl Fit {
    fn arrivals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((clients, think)) = self.clients {
            writeln!(f, "  arrivals     {clients} clients that think for {} each", Seconds(think))?;
        }
        let Some(arrivals) = &self.arrivals else { return Ok(()) };
        write!(
            f,
            "  arrivals     {}; c_v {:.2} ({:.2} to {:.2}) from counts in intervals of {}",
            arrivals.process,
            arrivals.cv.mean,
            arrivals.cv.ci[0],
            arrivals.cv.ci[1],
            Seconds(arrivals.interval),
        )?;
        match arrivals.cv_of_gaps {
            Some(cv) => writeln!(f, ", {cv:.2} from gaps")?,
            None => writeln!(f)?,
        }
        write!(f, "  dispersion  ")?;
        for point in &arrivals.dispersion {
            write!(f, " {:.2} in {},", point.index, Seconds(point.interval))?;
        }
        writeln!(f, " variance over mean of counts")
    }

    fn window(&self, f: &mut fmt::Formatter<'_>, window: &Window) -> fmt::Result {
        write!(
            f,
            "  window       {:.1} s to {:.1} s: {} requests, {:.3}/s",
            window.from, window.to, window.requests, window.rate,
        )?;
        if let Some(cv) = window.cv_of_gaps {
            write!(f, ", c_v of gaps {cv:.2}")?;
        }
        match window.verdict {
            WindowVerdict::Steady => writeln!(f),
            WindowVerdict::Sparse => writeln!(f, ", left out: too few requests"),
            WindowVerdict::Trending { change } => {
                writeln!(f, ", left out: its rate changes by {:+.0} %", change * 100.0)
            }
        }
    }

    fn class(&self, f: &mut fmt::Formatter<'_>, class: &FittedClass) -> fmt::Result {
        write!(f, "  {:<12} {:.3} % of the requests", class.name, class.share * 100.0)?;
        if let Some(demand) = class.demand {
            write!(f, ", each needs {} of a processor", Seconds(demand))?;
            match self.demands {
                _ if class.stated => write!(f, " (as stated)")?,
                Some(DemandSource::Means) => write!(f, " (from mean times)")?,
                Some(DemandSource::Stopwatch) => write!(f, " (measured in the server)")?,
                Some(DemandSource::Shares) | None => {}
            }
        }
        writeln!(f)?;
        if let Some(took) = class.took {
            let who = if self.origin == Origin::Run { "client" } else { "server" };
            writeln!(
                f,
                "  {:<12} took mean {}, p50 {}, p90 {}, p99 {} by the {who}'s clock",
                "",
                Seconds(took.mean),
                Seconds(took.p50),
                Seconds(took.p90),
                Seconds(took.p99),
            )?;
        }
        if let Some(size) = class.size {
            writeln!(
                f,
                "  {:<12} size mean {:.0} bytes, c_v {:.2}, p50 {:.0}, p90 {:.0}, p99 {:.0}",
                "", size.mean, size.cv, size.p50, size.p90, size.p99,
            )?;
        }
        Ok(())
    }
}
