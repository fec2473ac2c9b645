//! The answers as a table in Markdown.

use std::fmt::Write;

use super::answer::{Answer, Found};
use crate::results::text::dash;

/// A row for each.
pub(in crate::sim) fn to_markdown(answers: &[Answer]) -> String {
    let mut text = "### Queues of the textbook\n\n| queue | solver | rejected, % | mean time in the system, s | off by | processor time, s |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    let mut last = "";
    for answer in answers {
        if answer.queue != last {
            last = answer.queue;
            let known = answer.known;
            let _ = writeln!(
                text,
                "| {last} | the formula | {:.3} | {:.4} | | |",
                known.rejected * 100.0,
                known.latency
            );
        }
        let _ = match &answer.found {
            Ok(Found { figures, within }) => writeln!(
                text,
                "| | {} | {:.3} | {:.4}{} | {:+.2} % | {:.2} |",
                answer.solver,
                figures.rejected * 100.0,
                figures.latency,
                within.map_or_else(String::new, |within| format!(" ± {within:.4}")),
                (figures.latency / answer.known.latency - 1.0) * 100.0,
                answer.cpu_s
            ),
            Err(why) => {
                let why = why.replace('|', "/").replace('\n', " ");
                writeln!(text, "| | {} | {} | {why} | | |", answer.solver, dash())
            }
        };
    }
    text
}
