//! [`Drain`]: when each tunnel ends once the gate does.

use std::cell::Cell;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// For the other side to answer a Close frame and what is under way to come to an end. Most do within the time
/// that one message takes there and back.
const FAREWELL: Duration = Duration::from_secs(2);

/// The end of all tunnels, each at a time of its own: their clients come back at once, and all together they would
/// be the load of a start.
#[derive(Debug, Default)]
pub(super) struct Drain {
    times: Cell<Option<Times>>,
    begun: Notify,
    /// Tunnels that have a time.
    number: Cell<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    /// The last tunnel is told.
    last: Instant,
    /// For each of them to end.
    farewell: Duration,
}

impl Drain {
    /// From now on tunnels end; after `longest` the last has.
    pub(super) fn begin(&self, longest: Duration) {
        let farewell = FAREWELL.min(longest / 2);
        self.times.set(Some(Times { last: Instant::now() + (longest - farewell), farewell }));
        self.begun.notify_waiters();
    }

    /// Waits until it is one tunnel's turn; gives how long its end may take.
    pub(super) async fn turn(&self) -> Duration {
        let Times { last, farewell } = loop {
            match self.times.get() {
                Some(times) => break times,
                None => self.begun.notified().await,
            }
        };
        let now = Instant::now();
        let number = self.number.replace(self.number.get().wrapping_add(1));
        sleep_until(now + last.saturating_duration_since(now).mul_f64(part(number))).await;
        farewell
    }
}

/// Where in the time the tunnel of this number has its turn, from 0 to below 1. Multiples of the golden ratio lie evenly
/// however many they are (Knuth, The Art of Computer Programming, volume 3, section 6.4, theorem S), and tunnels go on
/// to begin when others are told.
fn part(number: u32) -> f64 {
    const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;
    (f64::from(number) * GOLDEN_RATIO).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_spread_however_many_there_are() {
        for number in [1_u32, 2, 3, 10, 100, 1024, 5000] {
            let mut turns: Vec<f64> = (0..number).map(part).collect();
            turns.push(1.0);
            turns.sort_by(f64::total_cmp);
            let longest = turns.windows(2).map(|pair| pair[1] - pair[0]).fold(turns[0], f64::max);
            assert!(longest * f64::from(number) < 2.0, "{longest} of {number}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_has_its_turn_in_time_and_so_has_who_comes_late() {
        let drain = Drain::default();
        let begin = Instant::now();
        let turns = async {
            let one = || async { (drain.turn().await, begin.elapsed()) };
            tokio::join!(one(), one(), one(), one())
        };
        let beginning = async {
            tokio::time::sleep(Duration::from_secs(100)).await;
            drain.begin(Duration::from_secs(10));
        };
        let (turns, ()) = tokio::join!(turns, beginning);
        let mut turns = [turns.0, turns.1, turns.2, turns.3];
        turns.sort();
        assert!(turns.iter().all(|(farewell, _)| *farewell == FAREWELL));
        // Parts 0, 0.236, 0.618 and 0.854 of eight seconds.
        assert_eq!(turns.map(|(_, at)| at.as_secs()), [100, 101, 104, 106]);
        tokio::time::sleep(Duration::from_secs(10)).await;
        let late = Instant::now();
        drain.turn().await;
        assert_eq!(late.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn without_time_all_go_at_once() {
        let drain = Drain::default();
        drain.begin(Duration::ZERO);
        let begin = Instant::now();
        for _ in 0..3 {
            assert_eq!(drain.turn().await, Duration::ZERO);
        }
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }
}
