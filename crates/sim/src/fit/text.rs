//! [`Fit`] for people.

use std::fmt;

use super::check::Check;
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
            writeln!(f, "  {} lines could not be read, such as", self.skipped)?;
            self.unread.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        writeln!(f, "  rate         {:.3} requests/s", self.rate)?;
        self.arrivals(f)?;
        (1..)
            .zip(self.windows.iter().take(SHOWN))
            .try_for_each(|(number, window)| self.window(f, number, window))?;
        if self.windows.len() > SHOWN {
            writeln!(f, "  ... and {} more windows (--json has all)", self.windows.len() - SHOWN)?;
        }
        self.classes.iter().try_for_each(|class| self.class(f, class))?;
        if let Some(network) = self.network {
            writeln!(
                f,
                "  network      {} besides, for each request, without a processor",
                Seconds(network)
            )?;
        }
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
        if let Some(check) = &self.check {
            self.check(f, check)?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "  note: {remark}"))
    }
}

fn processors(count: u32) -> String {
    if count == 1 { "one processor".to_owned() } else { format!("{count} processors") }
}

/// One bar over the other: where both are, where only what was observed is, and where only the model is.
fn bars(observed: f64, model: f64) -> String {
    const WIDTH: f64 = 30.0;
    let cells = |share: f64| (share * WIDTH).round() as usize;
    let (observed, model) = (cells(observed), cells(model));
    let both = observed.min(model);
    let only = if observed > model { "▒" } else { "░" };
    "█".repeat(both) + &only.repeat(observed.max(model) - both)
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

    /// A line for each figure, and bars.
    fn check(&self, f: &mut fmt::Formatter<'_>, check: &Check) -> fmt::Result {
        writeln!(
            f,
            "  check        the model, fed with these arrivals, beside what was observed ({} requests):",
            check.requests
        )?;
        writeln!(f, "  {:<12} {:>12} {:>12}   {:<25}", "", "observed", "model", "by chance (99 %)")?;
        let longest = check.figures.iter().filter(|figure| figure.is_time());
        let longest = longest.fold(0.0_f64, |most, figure| most.max(figure.observed).max(figure.model));
        for figure in &check.figures {
            let value = |value: f64| match figure.name {
                "rejected" => format!("{:.3} %", value * 100.0),
                "throughput" => format!("{value:.3}/s"),
                _ => Seconds(value).to_string(),
            };
            let [low, high] = figure.chance;
            let verdict = if figure.agrees { "" } else { "  differs" };
            let (observed, model) = (value(figure.observed), value(figure.model));
            let chance = format!("{} to {}", value(low), value(high));
            write!(f, "  {:<12} {observed:>12} {model:>12}   {chance:<25}", format!("  {}", figure.name))?;
            if figure.is_time() {
                write!(f, " {}", bars(figure.observed / longest, figure.model / longest))?;
            }
            writeln!(f, "{verdict}")?;
        }
        Ok(())
    }

    fn window(&self, f: &mut fmt::Formatter<'_>, number: usize, window: &Window) -> fmt::Result {
        write!(
            f,
            "  {:<12} {window} for {}: {} requests, {:.3}/s",
            format!("window {number}"),
            Seconds(window.length()),
            window.requests,
            window.rate,
        )?;
        if let Some(cv) = window.cv_of_gaps {
            write!(f, ", c_v of gaps {cv:.2}")?;
        }
        match window.verdict {
            WindowVerdict::Steady => {}
            WindowVerdict::Sparse => write!(f, ", too few requests")?,
            WindowVerdict::Trending { change } => {
                write!(f, ", its rate changes by {:+.0} %", change * 100.0)?
            }
        }
        writeln!(f, "{}", if window.is_chosen { "" } else { ", left out" })
    }

    fn class(&self, f: &mut fmt::Formatter<'_>, class: &FittedClass) -> fmt::Result {
        write!(f, "  {:<12} {:.3} % of the requests", class.name, class.share * 100.0)?;
        if let Some(demand) = class.demand {
            write!(f, ", each needs {} of a processor", Seconds(demand))?;
            match self.demands {
                _ if class.stated => write!(f, " (as stated)")?,
                Some(DemandSource::Stopwatch) => write!(f, " (measured in the server)")?,
                Some(DemandSource::Shares | DemandSource::BusyPeriods | DemandSource::Replay) | None => {}
            }
        }
        if let Some(service) = class.service {
            write!(f, ", {service}")?;
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
