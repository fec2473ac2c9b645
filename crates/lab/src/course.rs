//! [`Course`]: what the gate's window was in the course of a test.

use std::time::{Duration, Instant};

use crate::http::Answer;

/// Name of the file in a test's directory.
pub(crate) const FILE: &str = "gate-window.csv";

/// Lines of CSV: seconds since the load began, and what the gate said then.
#[derive(Debug)]
pub(crate) struct Course {
    began: Instant,
    next: Instant,
    text: String,
}

impl Course {
    /// The gate writes its metrics for each look, and clients wait for that.
    const EVERY: Duration = Duration::from_millis(250);

    pub(crate) fn begin() -> Self {
        let now = Instant::now();
        Self { began: now, next: now, text: "seconds,window,in_service,waiting\n".to_owned() }
    }

    /// Looks at the gate's metrics, which `ask` gets, if it is time. One that does not answer is not asked about it
    /// here.
    pub(crate) fn look(&mut self, ask: impl FnOnce() -> Option<Answer>) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + Self::EVERY;
        if let Some(answer) = ask() {
            self.add(now.duration_since(self.began), &answer.body);
        }
    }

    fn add(&mut self, since: Duration, metrics: &str) {
        let values = |name: &str| {
            let lines = metrics.lines().filter_map(|line| line.rsplit_once(' '));
            let ours = lines.filter(|(series, _)| series.split('{').next() == Some(name));
            ours.filter_map(|(_, value)| value.parse::<u32>().ok()).sum::<u32>()
        };
        let [window, inside, waiting] =
            ["headworks_gate_window", "headworks_gate_in_service", "headworks_gate_queue"].map(values);
        self.text += &format!("{:.3},{window},{inside},{waiting}\n", since.as_secs_f64());
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_are_those_of_all_stages() {
        let metrics = "# TYPE headworks_gate_queue gauge\n\
            headworks_gate_queue{stage=\"acceptor\"} 2\nheadworks_gate_queue{stage=\"class\"} 3\n\
            headworks_gate_in_service 4\nheadworks_gate_window 5\nheadworks_gate_window_other 6\n";
        let mut course = Course::begin();
        course.add(Duration::from_millis(1250), metrics);
        assert_eq!(course.text(), "seconds,window,in_service,waiting\n1.250,5,4,5\n");
    }
}
