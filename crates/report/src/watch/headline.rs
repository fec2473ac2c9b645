//! What came out of a watch, in words, from its figures and nothing else.

use super::watched::Watched;
use crate::conclusion::{Conclusion, KeyFigure};
use crate::text::{number, percent, seconds, times};

pub(super) fn of(watches: &[Watched]) -> Conclusion {
    let Some(first) = watches.first() else { return Conclusion::default() };
    let headline = match watches.get(1) {
        Some(second) => compared(first, second),
        None => alone(first),
    };
    let several = watches.len() > 1;
    let details = watches.iter().flat_map(|watched| {
        let name = if several { format!("{}: ", watched.name) } else { String::new() };
        details(watched).into_iter().map(move |sentence| format!("{name}{sentence}"))
    });
    Conclusion { headline, details: details.collect(), figures: figures(first) }
}

/// Processor time of one request, soft interrupts included.
fn cost(watched: &Watched) -> Option<f64> {
    Some(watched.mean("cpu_user")? + watched.mean("cpu_kernel")? + watched.mean("cpu_soft_interrupt")?)
}

fn busy(watched: &Watched) -> Option<f64> {
    let idle = watched.figure(&["kernel", "cpu_idle"])? + watched.figure(&["kernel", "cpu_io_wait"])?;
    Some((1.0 - idle).clamp(0.0, 1.0))
}

fn alone(watched: &Watched) -> String {
    let busy =
        busy(watched).map_or(String::new(), |busy| format!("; all processors were {} busy", percent(busy)));
    match cost(watched) {
        Some(cost) => format!(
            "{} requests per second, each with {} of a processor{busy}",
            number(watched.sum("rate")),
            seconds(cost)
        ),
        None => format!("No request was followed{busy}"),
    }
}

fn compared(first: &Watched, second: &Watched) -> String {
    let Some((one, other)) = cost(first).zip(cost(second)) else {
        return format!("{} and {}, side by side", first.name, second.name);
    };
    format!(
        "A request needs {} of a processor with {}, {} with {}: {} times as much",
        seconds(one),
        first.name,
        seconds(other),
        second.name,
        times(other / one)
    )
}

fn details(watched: &Watched) -> Vec<String> {
    let mut sentences = Vec::new();
    if let (Some(user), Some(kernel)) = (watched.mean("cpu_user"), watched.mean("cpu_kernel"))
        && user + kernel > 0.0
    {
        sentences.push(format!(
            "Of a request’s processor time {} is spent in the kernel, {} in user mode.",
            percent(kernel / (user + kernel)),
            percent(user / (user + kernel))
        ));
    }
    if let Some((accept, longest)) =
        watched.figure(&["waits", "accept", "mean"]).zip(watched.figure(&["waits", "accept", "max"]))
        && longest > 0.0
    {
        sentences.push(format!(
            "Connections waited {} to be accepted, {} at most.",
            seconds(accept),
            seconds(longest)
        ));
    }
    if let Some(cpu) = watched.figure(&["overhead", "cpu"]) {
        sentences.push(format!("Watching used {} of one processor.", percent(cpu)));
    }
    sentences
}

fn figures(watched: &Watched) -> Vec<KeyFigure> {
    let figure =
        |value: String, label: &str, note: String| KeyFigure { value, label: label.to_owned(), note };
    let mut figures = Vec::new();
    if !watched.names("requests").is_empty() {
        figures.push(figure(
            format!("{}/s", number(watched.sum("rate"))),
            "requests",
            format!("{} Mbit/s", number(watched.sum("bytes_rate") * 8e-6)),
        ));
    }
    if let (Some(cost), Some(kernel)) = (cost(watched), watched.mean("cpu_kernel")) {
        figures.push(figure(
            seconds(cost),
            "of a processor for one",
            format!("{} of it in the kernel", seconds(kernel)),
        ));
    }
    if let Some(busy) = busy(watched) {
        let user = watched.figure(&["kernel", "cpu_user"]).unwrap_or(0.0);
        figures.push(figure(
            percent(busy),
            "of all processors busy",
            format!("{} in user mode", percent(user)),
        ));
    }
    if let Some(accept) = watched.figure(&["waits", "accept", "p99"]) {
        let read = watched.figure(&["waits", "read", "p99"]).unwrap_or(0.0);
        figures.push(figure(
            seconds(accept),
            "to be accepted, 99th percentile",
            format!("{} to be read", seconds(read)),
        ));
    }
    figures
}
