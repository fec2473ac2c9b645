//! The knobs: where they are, where the user would have them, and what would come of that.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tui::Theme;
use tui::figures::{clock, number, time};

use super::desk::{Knob, Prediction};
use super::model::Model;
use crate::api::foresight::{Class, Estimate, Foresight, Point};
use crate::api::state::Knobs;

/// Columns of a bar.
const BAR: usize = 20;
/// Below this there are no bars.
const WIDE: u16 = 60;

/// From here on a class has all of its prediction in a row.
const ROWS: u16 = 80;
/// And from here on with intervals.
const INTERVALS: u16 = 130;

/// The knobs and the prediction; the more lines, the more there is to decide.
pub(super) fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let mut lines = vec![knob(model, Knob::Differentiation, width), knob(model, Knob::Favour, width)];
    if model.desk.wanted(model.state.knobs).is_some() {
        lines.extend(prediction(model, width));
    }
    lines
}

fn knob(model: &Model, knob: Knob, width: u16) -> Line<'static> {
    let theme = model.theme;
    let (name, mut hint) = match knob {
        Knob::Differentiation => ("d differentiation", "0 alike to 1 strict priority"),
        Knob::Favour => ("f favour         ", "0 fast responses to 1 many sessions"),
    };
    if model.state.is_shadow() {
        hint = "does nothing in shadow mode";
    }
    let read = |knobs: Knobs| match knob {
        Knob::Differentiation => knobs.differentiation,
        Knob::Favour => knobs.favour,
    };
    let holds = read(model.state.knobs);
    let wanted =
        model.desk.wanted(model.state.knobs).map(read).filter(|wanted| (wanted - holds).abs() > 1e-9);
    let style = if model.desk.chosen == Some(knob) { theme.strong } else { theme.label };
    let mut pieces = vec![Span::styled(format!("{name} "), style)];
    if width >= WIDE {
        let filled = ((wanted.unwrap_or(holds).clamp(0.0, 1.0) * BAR as f64).round() as usize).min(BAR);
        pieces.push(Span::styled("\u{2588}".repeat(filled), theme.line));
        pieces.push(Span::styled("\u{2591}".repeat(BAR - filled), theme.label));
    }
    pieces.push(Span::styled(format!(" {holds:.2}"), theme.strong));
    match wanted {
        Some(wanted) => pieces.push(Span::styled(format!(" -> {wanted:.2}?"), theme.strong)),
        None if width >= WIDE => pieces.push(Span::styled(format!("  {hint}"), theme.label)),
        None => {}
    }
    Line::from(pieces)
}

fn prediction(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (theme, desk) = (model.theme, &model.desk);
    if !model.state.foresight {
        return vec![Line::styled("this gate cannot predict; Enter applies, u undoes", theme.label)];
    }
    let mut lines = Vec::new();
    if model.state.is_shadow() {
        let text = "knobs do nothing in shadow mode; predicted for a gate that enforces:";
        lines.push(Line::styled(text, theme.strong));
    }
    match desk.predicted(model.state.knobs).map(|prediction| (prediction, &prediction.told)) {
        None => lines.push(Line::styled("what would come of it is being computed ..", theme.label)),
        Some((_, Err(why))) => lines.push(Line::styled(format!("no prediction: {why}"), theme.bad)),
        Some((prediction, Ok(foresight))) => lines.extend(foreseen(model, prediction, foresight, width)),
    }
    lines
}

/// A moment of the gate's clock.
fn moment(clock: f64) -> String {
    let seconds = clock.max(0.0) as u64 % (24 * 60 * 60);
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Class by class, as it is and as it would be.
fn foreseen(model: &Model, prediction: &Prediction, foresight: &Foresight, width: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let is_then = |point: &&Point| point.knobs.is_like(&prediction.then);
    let points = &foresight.points;
    let (Some(then), Some(now)) = (points.iter().find(is_then), points.iter().find(|point| !is_then(point)))
    else {
        return vec![Line::styled("no prediction: the gate answered something else", theme.bad)];
    };
    let load = foresight
        .load
        .as_ref()
        .map_or_else(String::new, |load| format!(", by the load of {}", clock(load.seconds)));
    // Nothing is better or worse of what does nothing.
    let judges = !model.state.is_shadow();
    let colours = if judges { "; coloured where 95 % intervals tell" } else { "" };
    let text = format!("as of {}{load}{colours}:", moment(prediction.clock));
    let mut lines = vec![Line::styled(text, theme.label)];
    let extent = Extent { judges, intervals: width >= INTERVALS };
    for class in &then.classes {
        let before = now.classes.iter().find(|before| before.name == class.name);
        if class.completion.mean.is_none() {
            lines.push(Line::styled(format!("{:<10} no sessions lately", class.name), theme.label));
            continue;
        }
        let figures = FIGURES.map(|figure| figure.pieces(theme, before, class, extent));
        let name = || Span::styled(format!("{:<10} ", class.name), theme.strong);
        if width >= ROWS {
            lines.push(Line::from_iter([name()].into_iter().chain(figures.into_iter().flatten())));
        } else {
            lines.extend(figures.map(|pieces| Line::from_iter([name()].into_iter().chain(pieces))));
        }
    }
    lines.extend(foresight.remarks.iter().map(|remark| Line::styled(format!("but {remark}"), theme.label)));
    lines
}

/// What is told of a figure besides.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// Whether it would be better or worse, in colour.
    judges: bool,
    intervals: bool,
}

/// A figure of the prediction.
struct Figure {
    name: &'static str,
    read: fn(&Class) -> Estimate,
    say: fn(f64) -> String,
    more_is_better: bool,
}

const FIGURES: [Figure; 3] = [
    Figure {
        name: "sessions",
        read: |class| class.completed,
        say: |value| format!("{}/s", number(value)),
        more_is_better: true,
    },
    Figure {
        name: "completed",
        read: |class| class.completion,
        say: |value| format!("{:.0} %", value * 100.0),
        more_is_better: true,
    },
    Figure { name: "p95", read: |class| class.p95, say: |value| time(value.max(0.0)), more_is_better: false },
];

impl Figure {
    /// As it is, as it would be, and how well that is known.
    fn pieces(
        &self,
        theme: Theme,
        before: Option<&Class>,
        after: &Class,
        extent: Extent,
    ) -> Vec<Span<'static>> {
        let (before, after) = (before.map(self.read), (self.read)(after));
        let style = match before.filter(|_| extent.judges).and_then(|before| compare(before, after)) {
            Some(more) if more == self.more_is_better => theme.good,
            Some(_) => theme.bad,
            None => Style::new(),
        };
        let said = before.and_then(|before| before.mean);
        let said = said.map_or_else(String::new, |mean| format!("{} -> ", (self.say)(mean)));
        let mut pieces = vec![
            Span::styled(format!("{} ", self.name), theme.label),
            Span::raw(said),
            Span::styled(after.mean.map_or_else(|| "-".to_owned(), self.say), style),
        ];
        if let Some([low, high]) = after.interval().filter(|_| extent.intervals) {
            let interval = format!(" ({} to {})", (self.say)(low), (self.say)(high));
            pieces.push(Span::styled(interval, theme.label));
        }
        pieces.push(Span::raw("  "));
        pieces
    }
}

/// Whether it would be more; nothing where the intervals do not tell.
fn compare(before: Estimate, after: Estimate) -> Option<bool> {
    let ([before_low, before_high], [low, high]) = (before.interval()?, after.interval()?);
    if low > before_high {
        Some(true)
    } else if high < before_low {
        Some(false)
    } else {
        None
    }
}
