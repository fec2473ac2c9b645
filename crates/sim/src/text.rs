//! [`Outcome`] and [`Solution`] for people.

use std::fmt;

use stats::MeanEstimate;

use crate::draw::{Arrivals, Observed};
use crate::exact::Solution;
use crate::model::Model;
use crate::outcome::{GateClassOutcome, LatencyOutcome, Outcome, Precision};

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  rejected     {}", Percent(&self.rejected))?;
        if let Some(lost) = &self.lost {
            writeln!(f, "  lost         {} of the requests, after all attempts", Percent(lost))?;
        }
        if let Some(given_up) = &self.given_up {
            writeln!(f, "  given up     {} of the attempts, before they were answered", Percent(given_up))?;
        }
        writeln!(f, "  latency      {}", self.latency)?;
        writeln!(f, "  utilization  {}", Percent(&self.utilization))?;
        for tier in &self.tiers {
            let [utilization, threads] = [&tier.utilization, &tier.threads].map(Percent);
            let waiting = Plain(&tier.waiting);
            writeln!(f, "  tier {:<12} utilization {utilization}, threads {threads}", tier.name)?;
            writeln!(f, "  {:<17} waiting {waiting} calls", "")?;
        }
        writeln!(f, "  throughput   {} requests/s", Plain(&self.throughput))?;
        writeln!(f, "  in server    {} requests", Plain(&self.present))?;
        if self.classes.len() > 1 {
            for class in &self.classes {
                writeln!(f, "  {:<12} rejected {}", class.name, Percent(&class.rejected))?;
                writeln!(f, "  {:<12} latency {}", "", class.latency)?;
            }
        }
        for class in &self.gate {
            let [served, refused, rejected] = [&class.served, &class.refused, &class.rejected].map(Percent);
            writeln!(f, "  gate: {:<12} served {served}", class.name)?;
            writeln!(f, "  {:<18} refused by the gate {refused}, rejected by the server {rejected}", "")?;
            if let Some(unaccepted) = &class.unaccepted {
                writeln!(f, "  {:<18} not accepted in time {}", "", Percent(unaccepted))?;
            }
            writeln!(f, "  {:<18} latency {}", "", class.latency)?;
        }
        let runs = match self.replications {
            1 => "one run".to_owned(),
            runs => format!("{runs} replications"),
        };
        writeln!(
            f,
            "  {runs} of {} requests after {} of warm-up; {:.1} M events, {:.1} M per second and core, {:.2} s",
            self.requests,
            self.warmup,
            self.events as f64 / 1e6,
            self.events_per_second / 1e6,
            self.elapsed,
        )?;
        Missed(self.precision).fmt(f)
    }
}

/// A share of requests that the gate lets pass and the server rejects that is worth a remark.
const REMARKABLE: f64 = 0.01;

impl Outcome {
    /// What is to be known of an outcome where the gate lets more pass than there is room for; a sentence.
    pub fn about_gate(&self) -> Option<String> {
        found_full(&self.gate)
    }

    /// What is to be known of a server whose clients give up and ask again, and that may be in a state that it would not leave
    /// if it were in it; a sentence.
    pub fn about_retries(&self, model: &Model) -> Option<String> {
        let (retries, load, Some(_)) = (model.retries?, model.load()?, model.patience) else { return None };
        // Each attempt comes to nothing: 1 + share + share^2 ..
        let attempts: f64 = (0..=retries.most.min(1000)).map(|times| retries.share.powi(times as i32)).sum();
        let most = load * attempts;
        (load < 1.0 && most >= 1.0).then(|| {
            format!(
                "clients that ask again can make {most:.2} times what the processors can serve of a load of {load:.2}: from an overload the server may not come back by itself; `headworks sim recovery` says whether it does"
            )
        })
    }

    /// What is to be known of an outcome whose arrivals are a trace that was read more than once; a
    /// sentence.
    pub fn about_trace(&self, model: &Model) -> Option<String> {
        let Arrivals::Observed(Observed { gaps, .. }) = &model.arrivals else { return None };
        let requests = (self.requests + self.warmup) as f64 * f64::from(self.replications);
        let readings = requests / gaps.len() as f64;
        (readings > 1.0).then(|| {
            format!(
                "the trace has {} arrivals and was read {readings:.1} times, each replication from another place on: they are not independent of one another, and the intervals say how sure it is for this trace, not for others of the same kind",
                gaps.len() + 1
            )
        })
    }
}

/// What is to be known where more of a class than is negligible passed the gate and was rejected; a sentence.
pub(crate) fn found_full(classes: &[GateClassOutcome]) -> Option<String> {
    let class = classes.iter().find(|class| class.rejected.mean > REMARKABLE)?;
    Some(format!(
        "{} of the class \"{}\" passed the gate and found the server full: its threads and its queue have less room than the gate's window and the places on top of it that the more important get; a longer queue or a smaller window mends that",
        Percent(&class.rejected),
        class.name,
    ))
}

/// What is said of an outcome that is not as precise as it was to be.
pub(crate) struct Missed(pub(crate) Precision);

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Precision::Fixed | Precision::Reached => Ok(()),
            Precision::Missed { relative, replications, seconds } => writeln!(
                f,
                "  NOT AS PRECISE AS ASKED FOR: known to {:.1} %; it would take about {replications} replications, {} on one core (--replications)",
                relative * 100.0,
                Seconds(seconds),
            ),
            Precision::Unsettled { requests } => writeln!(
                f,
                "  NOT SETTLED: pilot runs of {requests} requests did not come to rest, so what was simulated may not be typical; state the requests to leave out (--warmup)"
            ),
            Precision::Interrupted => writeln!(f, "  INTERRUPTED: less was simulated than was asked for"),
        }
    }
}

impl fmt::Display for LatencyOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mean {}", Time(&self.mean))?;
        for (name, estimate) in [
            ("p50", &self.p50),
            ("p90", &self.p90),
            ("p95", &self.p95),
            ("p99", &self.p99),
            ("p99.9", &self.p999),
        ] {
            write!(f, ", {name} {}", Seconds(estimate.mean))?;
        }
        Ok(())
    }
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  method       {}", self.method.name())?;
        writeln!(f, "  rejected     {:.4} %", self.rejected * 100.0)?;
        if let Some(given_up) = self.given_up {
            writeln!(
                f,
                "  given up     {:.4} % of the attempts, before they are answered",
                given_up * 100.0
            )?;
        }
        if let Some(lost) = self.lost {
            writeln!(f, "  lost         {:.4} % of the requests, after all attempts", lost * 100.0)?;
        }
        writeln!(f, "  latency      mean {}", Seconds(self.latency))?;
        writeln!(f, "  utilization  {:.2} %", self.utilization * 100.0)?;
        writeln!(f, "  throughput   {:.4} requests/s", self.throughput)?;
        writeln!(f, "  in server    {:.3} requests", self.present)
    }
}

pub(crate) struct Percent<'a>(pub(crate) &'a MeanEstimate);
pub(crate) struct Plain<'a>(pub(crate) &'a MeanEstimate);
struct Time<'a>(&'a MeanEstimate);
pub(crate) struct Seconds(pub(crate) f64);

/// A share with so many decimals.
pub(crate) fn percent(share: &MeanEstimate, decimals: usize) -> String {
    let [mean, low, high] = [share.mean, share.ci[0], share.ci[1]].map(|share| share * 100.0);
    if share.is_symmetric() {
        format!("{mean:.decimals$} % ± {:.decimals$}", share.half_width() * 100.0)
    } else {
        format!("{mean:.decimals$} % ({low:.decimals$} to {high:.decimals$})")
    }
}

impl fmt::Display for Percent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&percent(self.0, 3))
    }
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.0.mean, self.0.half_width())
    }
}

impl fmt::Display for Time<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {}", Seconds(self.0.mean), Seconds(self.0.half_width()))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if !seconds.is_finite() => f.write_str("unknown"),
            seconds if seconds >= 7200.0 => write!(f, "{:.1} h", seconds / 3600.0),
            seconds if seconds >= 1.0 => write!(f, "{seconds:.3} s"),
            seconds if seconds >= 1e-3 => write!(f, "{:.3} ms", seconds * 1e3),
            seconds => write!(f, "{:.1} us", seconds * 1e6),
        }
    }
}
