//! What was read as text.

use std::fmt::Write as _;

use super::pauses::Pause;
use super::rows::{Reading, Row};

/// A column: its heading, the figure, what it is multiplied by, and how many digits there are after the point.
struct Column {
    heading: String,
    /// All figures with this name or, where it ends with a brace, with any label in these.
    figure: String,
    factor: f64,
    digits: usize,
}

const KERNEL: [(&str, &str, f64, usize); 7] = [
    ("user%", "kernel.cpu_user", 100.0, 1),
    ("sys%", "kernel.cpu_system", 100.0, 1),
    ("soft%", "kernel.cpu_soft_interrupt", 100.0, 1),
    ("steal%", "kernel.cpu_stolen", 100.0, 1),
    ("iow%", "kernel.cpu_io_wait", 100.0, 1),
    ("idle%", "kernel.cpu_idle", 100.0, 1),
    ("runq", "kernel.run_queue", 1.0, 0),
];

impl Column {
    fn of((heading, figure, factor, digits): (&str, &str, f64, usize)) -> Self {
        Self { heading: heading.to_owned(), figure: figure.to_owned(), factor, digits }
    }

    /// Its sum over all labels; none where the row has none.
    fn value(&self, row: &Row) -> Option<f64> {
        if !self.figure.ends_with('{') {
            return row.figures.get(&self.figure).copied();
        }
        let all = row.figures.range(self.figure.clone()..);
        let mut all = all.take_while(|(name, _)| name.starts_with(&self.figure)).map(|(_, value)| *value);
        let first = all.next()?;
        Some(first + all.sum::<f64>())
    }
}

/// Labels of a figure in any of the rows, in their order.
fn labels(rows: &[Row], figure: &str) -> Vec<String> {
    let prefix = format!("{figure}{{");
    let all = rows.iter().flat_map(|row| row.figures.keys());
    let mut found: Vec<String> =
        all.filter_map(|name| Some(name.strip_prefix(&prefix)?.trim_end_matches('}').to_owned())).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn columns(rows: &[Row]) -> Vec<Column> {
    let mut columns: Vec<Column> = KERNEL.into_iter().map(Column::of).collect();
    columns.push(Column::of(("req/s", "requests.rate{", 1.0, 0)));
    columns.push(Column::of(("Mbit/s", "requests.bytes_rate{", 8e-6, 2)));
    for port in labels(rows, "listen_queue.waiting") {
        let figure = format!("listen_queue.waiting{{{port}}}");
        columns.push(Column { heading: format!("wait:{port}"), figure, factor: 1.0, digits: 0 });
    }
    for program in labels(rows, "processes.cpu") {
        let cpu = format!("processes.cpu{{{program}}}");
        columns.push(Column { heading: format!("{program} cpu%"), figure: cpu, factor: 100.0, digits: 1 });
        let running = format!("processes.running{{{program}}}");
        columns.push(Column { heading: "run".to_owned(), figure: running, factor: 1.0, digits: 0 });
    }
    columns.retain(|column| rows.iter().any(|row| column.value(row).is_some()));
    columns
}

/// The time of day in UTC, to a millisecond.
fn clock(time: record::Timestamp) -> String {
    time.to_string().get(11..).map_or_else(String::new, |time| {
        let time = time.trim_end_matches('Z');
        let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
        format!("{seconds}.{:0<3.3}", fraction)
    })
}

impl Reading {
    /// All of it, for people.
    pub fn text(&self) -> String {
        let mut text = self.table();
        for pause in &self.pauses {
            let Pause { time, length, rate, .. } = *pause;
            let _ = writeln!(
                text,
                "no response for {:.0} ms from {} on; before and after {rate:.0}/s",
                length * 1e3,
                clock(time)
            );
        }
        text += &self.slow_requests();
        for finer in &self.finer {
            let _ = writeln!(text, "finer looks: headworks watch read {}", finer.display());
        }
        text
    }

    fn table(&self) -> String {
        if self.rows.is_empty() {
            return "no look is within that time\n".to_owned();
        }
        let columns = columns(&self.rows);
        let width = |column: &Column| column.heading.chars().count().max(7) + 1;
        let mut text = format!("{:<13}", "UTC");
        for column in &columns {
            let _ = write!(text, "{:>width$}", column.heading, width = width(column));
        }
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "{:<13}", clock(row.time));
            for column in &columns {
                let width = width(column);
                match column.value(row) {
                    Some(value) => {
                        let _ = write!(text, "{:>width$.*}", column.digits, value * column.factor);
                    }
                    None => {
                        let _ = write!(text, "{:>width$}", "-");
                    }
                }
            }
            text.push('\n');
        }
        text
    }

    fn slow_requests(&self) -> String {
        if self.slowest.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "{:<13}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>8}{:>12}  {}\n",
            "slowest, UTC", "ms", "parse", "process", "log", "cpu", "disk", "client", "bytes", "class"
        );
        for slow in &self.slowest {
            let _ = write!(text, "{:<13}", clock(slow.time));
            for seconds in [slow.duration, slow.parse, slow.process, slow.log, slow.cpu, slow.disk_wait] {
                let _ = write!(text, "{:>11.3}", seconds * 1e3);
            }
            let _ = writeln!(text, "{:>8}{:>12}  {}", slow.client_port, slow.bytes_sent, slow.class);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn columns_are_those_that_there_are_figures_for() {
        let row = |offset: f64, figures: &[(&str, f64)]| Row {
            offset,
            time: "2026-11-28T14:03:20.25Z".parse().unwrap(),
            figures: figures
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect::<BTreeMap<_, _>>(),
        };
        let reading = Reading {
            started: "2026-11-28T14:03:00Z".parse().unwrap(),
            from: 0.0,
            to: 30.0,
            interval: 0.1,
            rows: vec![
                row(
                    20.25,
                    &[
                        ("kernel.cpu_idle", 0.5),
                        ("requests.rate{0-50k}", 100.0),
                        ("requests.rate{50k-}", 20.0),
                        ("listen_queue.waiting{80}", 3.0),
                        ("processes.cpu{apache2}", 0.25),
                        ("processes.running{apache2}", 2.0),
                    ],
                ),
                row(20.35, &[("kernel.cpu_idle", 1.0)]),
            ],
            pauses: vec![Pause {
                time: "2026-11-28T14:03:20.2Z".parse().unwrap(),
                from: 20.2,
                length: 0.05,
                rate: 400.0,
            }],
            slowest: Vec::new(),
            finer: vec!["runs/a/kept-1".into()],
        };
        insta::assert_snapshot!(reading.text(), @r"
        UTC             idle%   req/s wait:80 apache2 cpu%     run
        14:03:20.250     50.0     120       3         25.0       2
        14:03:20.250    100.0       -       -            -       -
        no response for 50 ms from 14:03:20.200 on; before and after 400/s
        finer looks: headworks watch read runs/a/kept-1
        ");
    }
}
