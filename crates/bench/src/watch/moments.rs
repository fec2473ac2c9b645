//! What the default costs, moment by moment. Throughput of a whole run changes by more from one run to the
//! next than watching costs, but hardly from a moment to the one after: so that of each moment in which the
//! monitor did something is compared with that just before and just after, when it did nothing.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use stats::MeanEstimate;

use super::subject::Subject;

/// The server is looked at so often.
const INTERVAL: Duration = Duration::from_millis(5);
/// What the monitor does may be felt so many looks before it was noticed, and after.
const MARGIN: usize = 2;
/// With programs attached there are so many more descriptors; a look at the rest opens one or two.
const OF_A_WINDOW: usize = 5;
/// A moment is compared with so many seconds before and after it, without those that are moments themselves,
const BESIDE: f64 = 0.4;
/// of which there have to be so many.
const MIN_BESIDE: f64 = 0.1;
/// Moments of so many seconds are one observation, so that neighbours do not count for two.
const PART: f64 = 10.0;

/// What was seen of server and monitor at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Seconds since the first look.
    at: f64,
    /// Segments with data sent in the server's network: each request and each response is one.
    segments: u64,
    /// Of the monitor; more while programs are attached.
    descriptors: usize,
    /// What the monitor has used.
    cpu: Duration,
}

/// Moments of one part of a run, as they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Part {
    pub(super) subject: Subject,
    /// Its number.
    pub(super) part: u32,
    pub(super) seconds: f64,
    /// Segments per second while nothing was done.
    pub(super) segments: f64,
    pub(super) windows: u32,
    /// Share of the time.
    pub(super) in_windows: f64,
    /// Throughput that was lost in windows, as a share of all.
    pub(super) lost_in_windows: f64,
    /// And when the monitor did something else.
    pub(super) lost_besides: f64,
}

impl Part {
    /// Of throughput, as a share; no number where there was nothing to compare with.
    pub(super) fn lost(&self) -> f64 {
        self.lost_in_windows + self.lost_besides
    }
}

/// Looks at both for so long.
///
/// # Errors
/// When one of them is gone.
pub(super) fn look(server: u32, monitor: u32, seconds: f64) -> anyhow::Result<Vec<Reading>> {
    let table = format!("/proc/{server}/net/netstat");
    let network = File::open(&table).with_context(|| format!("cannot read {table}"))?;
    let mut text = vec![0; 16 << 10];
    let started = Instant::now();
    let mut looks = Vec::new();
    loop {
        let length = network.read_at(&mut text, 0).with_context(|| format!("cannot read {table}"))?;
        let look = Reading {
            at: started.elapsed().as_secs_f64(),
            segments: segments(&String::from_utf8_lossy(&text[..length]))
                .with_context(|| format!("cannot understand {table}"))?,
            descriptors: testbed::account::descriptors(monitor)?,
            cpu: testbed::account::cpu(monitor)?,
        };
        looks.push(look);
        if look.at >= seconds {
            return Ok(looks);
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Sent for the first time, without mere acknowledgements (include/uapi/linux/snmp.h,
/// `LINUX_MIB_TCPORIGDATASENT`): the names are in one line, the values in the next.
fn segments(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let names = lines.next()?.split_whitespace();
    let mut values = lines.next()?.split_whitespace();
    let place = names.into_iter().position(|name| name == "TCPOrigDataSent")?;
    values.nth(place)?.parse().ok()
}

/// What was lost in each part of a run.
pub(super) fn parts(subject: Subject, looks: &[Reading]) -> Vec<Part> {
    let moments = moments(looks);
    let is_quiet = {
        let mut quiet = vec![true; looks.len()];
        for moment in &moments {
            quiet[moment.from..moment.to].fill(false);
        }
        quiet
    };
    let quiet = |from: usize, to: usize| {
        let kept = (from..to).filter(|at| is_quiet[*at]).map(|at| since(looks, at, at + 1));
        kept.fold((0.0, 0.0), |(time, sent), (more, segments)| (time + more, sent + segments))
    };
    let end = looks.len().saturating_sub(1);
    let number = looks.last().map_or(0, |last| (last.at / PART) as u32);
    let part = |part: u32| {
        let begin = |part: u32| looks.partition_point(|look| look.at < f64::from(part) * PART).min(end);
        let (from, to) = (begin(part), begin(part + 1));
        let (seconds, _) = since(looks, from, to);
        let (time, sent_quietly) = quiet(from, to);
        let mut found = Part {
            subject,
            part,
            seconds,
            segments: sent_quietly / time,
            windows: 0,
            in_windows: 0.0,
            lost_in_windows: 0.0,
            lost_besides: 0.0,
        };
        for moment in moments.iter().filter(|moment| (from..to).contains(&moment.from)) {
            let (lasted, sent) = since(looks, moment.from, moment.to);
            let first = looks.partition_point(|look| look.at < looks[moment.from].at - BESIDE);
            let last = looks.partition_point(|look| look.at <= looks[moment.to].at + BESIDE).min(end);
            let beside = quiet(first, last);
            // Where the monitor leaves no time in between, all that there is in the part has to do.
            let (time, beside) = if beside.0 < MIN_BESIDE { (time, sent_quietly) } else { beside };
            let lost = (lasted - sent / (beside / time)) / seconds;
            if moment.is_window {
                found.windows += 1;
                found.in_windows += moment.attached / seconds;
                found.lost_in_windows += lost;
            } else {
                found.lost_besides += lost;
            }
        }
        found
    };
    (0..number).map(part).collect()
}

/// From a look to another one: when the monitor did something.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moment {
    from: usize,
    to: usize,
    is_window: bool,
    /// Seconds of a window, without the margins.
    attached: f64,
}

fn moments(looks: &[Reading]) -> Vec<Moment> {
    let usual = usual(looks);
    let end = looks.len().saturating_sub(1);
    let mut moments: Vec<Moment> = Vec::new();
    for (at, pair) in looks.windows(2).enumerate() {
        let more = pair.iter().map(|look| look.descriptors.saturating_sub(usual)).max().unwrap_or_default();
        if more == 0 && pair[1].cpu == pair[0].cpu {
            continue;
        }
        let is_window = more > OF_A_WINDOW;
        let attached = if is_window { pair[1].at - pair[0].at } else { 0.0 };
        let (from, to) = (at.saturating_sub(MARGIN), (at + 1 + MARGIN).min(end));
        match moments.last_mut() {
            Some(last) if last.to >= from => {
                last.to = to;
                last.is_window |= is_window;
                last.attached += attached;
            }
            _ => moments.push(Moment { from, to, is_window, attached }),
        }
    }
    moments
}

/// The number of descriptors between windows, since these take less of the time.
fn usual(looks: &[Reading]) -> usize {
    let mut descriptors: Vec<_> = looks.iter().map(|look| look.descriptors).collect();
    descriptors.sort_unstable();
    descriptors.get(descriptors.len() / 2).copied().unwrap_or_default()
}

/// Seconds and segments from a look to another one.
fn since(looks: &[Reading], from: usize, to: usize) -> (f64, f64) {
    (looks[to].at - looks[from].at, looks[to].segments.saturating_sub(looks[from].segments) as f64)
}

/// What all parts say, as a row for each subject.
pub(super) fn to_markdown(parts: &[Part], accounts: &[(Subject, f64)]) -> String {
    let mut text = "| server | windows | of the time | throughput lost to them | to all else | in all, 95 % | processors used | seconds |\n| --- | --- | --- | --- | --- | --- | --- | --- |".to_owned();
    for (subject, account) in accounts {
        let parts: Vec<&Part> = parts.iter().filter(|part| part.subject == *subject).collect();
        let mean = |of: fn(&Part) -> f64| MeanEstimate::of(parts.iter().map(|part| of(part)));
        let percent =
            |share: f64| if share.is_finite() { format!("{:.2}", share * 100.0) } else { "–".to_owned() };
        let (open, lost) = (mean(|part| part.in_windows).mean, mean(|part| part.lost_in_windows).mean);
        let all = mean(Part::lost);
        let row = [
            subject.name().to_owned(),
            parts.iter().map(|part| part.windows).sum::<u32>().to_string(),
            percent(open) + " %",
            percent(lost) + " %",
            percent(mean(|part| part.lost_besides).mean) + " %",
            format!("{} % ({}–{})", percent(all.mean), percent(all.ci[0]), percent(all.ci[1])),
            percent(*account) + " %",
            format!("{:.0}", parts.iter().map(|part| part.seconds).sum::<f64>()),
        ];
        text = format!("{text}\n| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2,000 segments per second; half as many in a window of 100 ms each second, and none for 20 ms in which the
    /// monitor looks at the rest.
    fn looks(seconds: u32) -> Vec<Reading> {
        let mut look = Reading { at: 0.0, segments: 0, descriptors: 20, cpu: Duration::ZERO };
        (0..seconds * 200)
            .map(|step| {
                let of_second = step % 200;
                look.at = f64::from(step) * 0.005;
                let is_busy = (150..154).contains(&of_second);
                look.descriptors = 20 + usize::from(is_busy);
                if (50..=70).contains(&of_second) {
                    look.descriptors = 30;
                }
                look.segments += if (51..=70).contains(&of_second) { 5 } else { 10 } * u64::from(!is_busy);
                look.cpu += Duration::from_micros(u64::from(is_busy));
                look
            })
            .collect()
    }

    #[test]
    fn what_a_moment_lost_is_seen_beside_its_neighbours() {
        let parts = parts(Subject::Nginx, &looks(31));
        assert_eq!(parts.len(), 3);
        for part in parts {
            assert!((part.segments - 2000.0).abs() < 1e-6, "{part:?}");
            assert_eq!(part.windows, 10, "{part:?}");
            assert!((part.in_windows - 0.11).abs() < 0.006, "{part:?}");
            assert!((part.lost_in_windows - 0.05).abs() < 1e-3, "{part:?}");
            assert!((part.lost_besides - 0.02).abs() < 1e-3, "{part:?}");
        }
    }

    /// It does something all the time but for 50 ms in a second, in which there is a third more.
    #[test]
    fn a_busy_monitor_is_not_taken_for_none() {
        let (mut cpu, mut segments) = (Duration::ZERO, 0);
        let mut looks = looks(11);
        for (look, step) in looks.iter_mut().zip(0..) {
            let is_quiet = step % 200 < 10;
            cpu += Duration::from_micros(u64::from(!is_quiet));
            segments += if is_quiet { 20 } else { 15 };
            *look = Reading { segments, descriptors: 20, cpu, ..*look };
        }
        let part = parts(Subject::Apache, &looks)[0];
        assert!((part.lost() - 0.95 * 0.25).abs() < 0.02, "{part:?}");
    }

    #[test]
    fn nothing_is_lost_when_nothing_is_done() {
        let mut looks = looks(11);
        for (look, sent) in looks.iter_mut().zip(0..) {
            *look = Reading { segments: sent * 10, descriptors: 20, cpu: Duration::ZERO, ..*look };
        }
        let parts = parts(Subject::Apache, &looks);
        assert_eq!((parts[0].lost(), parts[0].in_windows), (0.0, 0.0));
    }

    #[test]
    fn a_table_says_how_sure_it_is() {
        let parts = parts(Subject::Nginx, &looks(31));
        let text = to_markdown(&parts, &[(Subject::Nginx, 0.0123)]);
        let row = text.lines().nth(2).unwrap();
        assert!(row.starts_with("| nginx | 30 | 1"), "{row}");
        assert!(row.contains("% | 7.0") && row.ends_with("| 1.23 % | 30 |"), "{row}");
    }

    #[test]
    fn segments_are_read_by_name() {
        let text = "IpExt: a b\nIpExt: 1 2\nTcpExt: a TCPOrigDataSent x\nTcpExt: 7 42 9\n";
        assert_eq!(segments(text), Some(42));
        assert_eq!(segments("TcpExt: TCPOrigDataSent\n"), None);
    }
}
