//! Whether the machine is at rest, and waiting until it is.

use std::fs;
use std::time::{Duration, Instant};

use units::Span;

use crate::{Error, Stop};

/// Share of all processors that others may use before a test's figures are doubtful.
const BUSY: f64 = 0.10;

/// Linux has 28k ephemeral ports by default; connections in TIME_WAIT hold one each.
const TIME_WAIT: u64 = 14_000;

/// One look at how busy the machine is.
const LOOK: Duration = Duration::from_millis(100);

/// Waits until the processors are idle and old connections are cleared up, at most `limit`.
/// Gives what was still amiss then, one sentence each.
pub(crate) fn settle(limit: Span, stop: &Stop) -> Result<Vec<String>, Error> {
    let deadline = Instant::now() + Duration::from(limit);
    loop {
        let before = Ticks::read();
        stop.pause(LOOK)?;
        let busy = Ticks::read().busy_since(before);
        let waiting = time_wait();
        if busy <= BUSY && waiting <= TIME_WAIT {
            return Ok(Vec::new());
        }
        if Instant::now() >= deadline {
            let mut amiss = Vec::new();
            if busy > BUSY {
                amiss.push(format!(
                    "before the test other programs used {:.0} % of the machine",
                    busy * 100.0
                ));
            }
            if waiting > TIME_WAIT {
                amiss.push(format!("before the test {waiting} connections were in TIME_WAIT"));
            }
            return Ok(amiss);
        }
    }
}

/// Clock ticks of all processors since boot (proc_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

impl Ticks {
    fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn parse(stat: &str) -> Self {
        let first = stat.lines().next().unwrap_or_default();
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user already.
        let ticks: Vec<u64> =
            first.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
        let all: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        Self { busy: all - idle, all }
    }

    fn busy_since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

fn time_wait() -> u64 {
    parse_time_wait(&fs::read_to_string("/proc/net/sockstat").unwrap_or_default())
}

fn parse_time_wait(sockstat: &str) -> u64 {
    let tcp = sockstat.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = tcp.split(' ').skip_while(|word| *word != "tw").skip(1);
    words.next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_for_disks_are_not_busy() {
        let before = Ticks::parse("cpu  100 0 50 1000 10 0 5 0 7 0\ncpu0 ..");
        assert_eq!(before, Ticks { busy: 155, all: 1165 });
        let after = Ticks::parse("cpu  130 0 50 1060 20 0 5 0 9 0");
        assert_eq!(after.busy_since(before), 0.3);
        assert_eq!(Ticks::parse(""), Ticks { busy: 0, all: 0 });
    }

    #[test]
    fn connections_in_time_wait_are_counted() {
        let text = "sockets: used 290\nTCP: inuse 10 orphan 0 tw 321 alloc 15 mem 2\nUDP: inuse 3\n";
        assert_eq!(parse_time_wait(text), 321);
        assert_eq!(parse_time_wait(""), 0);
    }
}
