//! What would come of the knobs that are tried out, and what came of the last move.

use std::time::Instant;

use ratatui::text::{Line, Span};
use tui::figures::{clock, number};

use super::aftermath::Aftermath;
use super::compare::{Column, MAX_CLASSES, price, table};
use super::forecast::{Prediction, Progress};
use super::model::Model;
use super::verdict::compare;
use crate::api::outcome::Outcome;
use crate::api::state::{Knobs, Setting};

/// Rows besides those of the classes: of when it is, the price, two of titles, remarks.
const ROWS: usize = 7;

/// A change of the servers' capacity that is said, of it.
const CAPACITY: f64 = 0.1;

/// Rows that are kept free for it.
pub(super) fn rows(model: &Model) -> u16 {
    u16::try_from(model.state.classes.len().min(MAX_CLASSES + 1) + ROWS).unwrap_or(u16::MAX)
}

/// Nothing where there is nothing to decide and nothing came of anything.
pub(super) fn lines(model: &Model, width: u16, now: Instant) -> Vec<Line<'static>> {
    let holds = model.state.knobs;
    match (model.desk.wanted(holds), &model.aftermath) {
        (Some(wanted), _) => prediction(model, wanted, width, now),
        (None, Some(aftermath)) => aftermath_lines(model, aftermath, width, now),
        (None, None) => Vec::new(),
    }
}

/// What stands there instead.
pub(super) fn hint(model: &Model) -> Line<'static> {
    let text = match model.state.foresight {
        true => {
            "d or f chooses a knob, arrows try it out: what would come of it is said here before it is applied"
        }
        false => "d or f chooses a knob; this gate cannot predict what would come of it",
    };
    Line::styled(text, model.theme.label)
}

fn prediction(model: &Model, wanted: Knobs, width: u16, now: Instant) -> Vec<Line<'static>> {
    let theme = model.theme;
    if !model.state.foresight {
        return vec![Line::styled("this gate cannot predict; Enter applies, u undoes", theme.label)];
    }
    let mut lines = Vec::new();
    if model.state.is_shadow() {
        let text = "knobs do nothing in shadow mode; predicted for a gate that enforces:";
        lines.push(Line::styled(text, theme.strong));
    }
    let holds = model.state.knobs;
    let forecast = &model.desk.forecast;
    let known = forecast.of(holds, wanted);
    let progress = forecast.progress(holds, wanted, now);
    let state = match (&progress, known.is_some()) {
        _ if model.lost.is_some() && known.is_none() => {
            Some(("no prediction while the gate is not there".to_owned(), theme.bad))
        }
        (Progress::Failed(why), false) => {
            Some((format!("no prediction, and it is tried again: {why}"), theme.bad))
        }
        (Progress::Failed(why), true) => Some((format!("not renewed: {why}"), theme.bad)),
        (Progress::Computing(time), false) => {
            let time = clock(time.as_secs_f64());
            Some((format!("what would come of it is being computed, for {time} now .."), theme.label))
        }
        (Progress::Behind(time), false) => {
            let time = clock(time.as_secs_f64());
            let text = format!(
                "what would come of it is computed next; another question is computed for {time} now .."
            );
            Some((text, theme.label))
        }
        (Progress::Idle, false) => {
            Some(("what would come of it is being computed ..".to_owned(), theme.label))
        }
        (_, true) => None,
    };
    lines.extend(state.map(|(text, style)| Line::styled(text, style)));
    if let Some(known) = known {
        lines.extend(foreseen(model, known, &progress, width));
    }
    lines
}

/// A moment of the gate's clock.
fn moment(clock: f64) -> String {
    let seconds = clock.max(0.0) as u64 % (24 * 60 * 60);
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The price, and class by class as it is and as it would be.
fn foreseen(
    model: &Model,
    prediction: Prediction<'_>,
    progress: &Progress<'_>,
    width: u16,
) -> Vec<Line<'static>> {
    let (theme, forecast) = (model.theme, &model.desk.forecast);
    let load = forecast
        .load
        .as_ref()
        .map_or_else(String::new, |load| format!(", by the load of {}", clock(load.seconds)));
    let renewed = match progress {
        Progress::Computing(time) => format!("; renewed for {} now", clock(time.as_secs_f64())),
        _ => String::new(),
    };
    // Nothing is better or worse of what does nothing.
    let judges = !model.state.is_shadow();
    let [now, then] = [Column::predicted("now", prediction.now), Column::predicted("then", prediction.then)];
    let mut lines = vec![
        Line::styled(format!("predicted, as of {}{load}{renewed}:", moment(prediction.clock)), theme.label),
        Line::styled(price(Some(&now), &then, judges), theme.strong),
    ];
    lines.extend(table(&[now, then], judges, theme, width));
    if !forecast.remarks.is_empty() {
        lines.push(Line::styled(format!("but {}", forecast.remarks.join("; ")), theme.label));
    }
    lines
}

/// What was before, what was predicted, and what was measured since.
fn aftermath_lines(model: &Model, aftermath: &Aftermath, width: u16, now: Instant) -> Vec<Line<'static>> {
    let theme = model.theme;
    let measured = aftermath.measured();
    let is_telling = aftermath.is_telling();
    let mut lines = vec![Line::from(vec![
        Span::styled(moved(aftermath), theme.strong),
        Span::styled(format!("  {}", measuring(aftermath, now)), theme.label),
    ])];
    let before = aftermath.before.as_ref().and_then(|told| told.as_ref().ok());
    let before = before.filter(|outcome| outcome.sessions() > 0.0);
    let column = |title, outcome: Option<&Outcome>| {
        outcome.map_or_else(|| Column::unknown(title), |outcome| Column::measured(title, outcome))
    };
    let predicted = aftermath.predicted.as_ref().map(|point| Column::predicted("predicted", point));
    let (first, last) = (column("before", before), column("measured", measured));
    let judges = is_telling && before.is_some();
    if measured.is_some() {
        lines.push(Line::styled(price(before.is_some().then_some(&first), &last, judges), theme.strong));
    }
    let verdict = predicted.as_ref().filter(|_| is_telling).map(|predicted| against(predicted, &last));
    let columns: Vec<Column> = [Some(first), predicted, Some(last)].into_iter().flatten().collect();
    lines.extend(table(&columns, judges, theme, width));
    lines.extend(verdict.map(|text| Line::styled(text, theme.label)));
    if measured.is_some() {
        lines.extend(capacity(model, aftermath).map(|text| Line::styled(text, theme.strong)));
    }
    lines
}

/// What the servers can do may have changed, too.
fn capacity(model: &Model, aftermath: &Aftermath) -> Option<String> {
    let [first, moved] = aftermath.times();
    let mean = |from: f64, to: f64| {
        let within = model.samples.iter().filter(|sample| sample.at > from && sample.at <= to);
        let known: Vec<f64> = within.filter_map(|sample| sample.capacity).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let (before, since) = (mean(first, moved)?, mean(moved, f64::INFINITY)?);
    ((since - before).abs() > before.abs() * CAPACITY).then(|| {
        let [before, since] = [before, since].map(number);
        format!(
            "The servers' capacity went from {before}/s to {since}/s meanwhile, so part of it is not the knobs' doing."
        )
    })
}

fn moved(aftermath: &Aftermath) -> String {
    let Aftermath { from, to, .. } = aftermath;
    let Setting { differentiation, favour } = Setting::between(*from, *to);
    let one = |name: &str, old: f64, new: Option<f64>| new.map(|new| format!("{name} {old:.2} -> {new:.2}"));
    let all =
        [one("differentiation", from.differentiation, differentiation), one("favour", from.favour, favour)];
    format!("applied {}", all.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// How far it is known what came of it.
fn measuring(aftermath: &Aftermath, now: Instant) -> String {
    let age = clock(aftermath.age(now).as_secs_f64());
    let sessions = aftermath.measured().map_or(0.0, |outcome| outcome.sessions());
    let count = format!("{} sessions have ended", number(sessions));
    match (aftermath.ended, &aftermath.since) {
        (Some(why), _) if sessions > 0.0 => format!("{count}; nothing is added, as {why}"),
        (Some(why), _) => format!("nothing was measured, as {why}"),
        (None, Some(Err(why))) => format!("what came of it is not known: {why}"),
        (None, _) if aftermath.is_telling() => format!("measured for {age}: {count}"),
        (None, _) if sessions > 0.0 => format!("measuring, {age}: {count}, too few to judge"),
        (None, _) => format!("measuring, {age}"),
    }
}

/// Whether the prediction has come true.
fn against(predicted: &Column, measured: &Column) -> String {
    let wrong = measured.classes().iter().filter_map(|class| {
        let said = predicted.class(&class.name)?;
        let more = compare(said.completion, class.completion)?;
        Some(format!("{} loses {} than predicted", class.name, if more { "less" } else { "more" }))
    });
    let wrong: Vec<String> = wrong.take(MAX_CLASSES).collect();
    if wrong.is_empty() {
        "What is measured does not contradict the prediction.".to_owned()
    } else {
        format!("Not as predicted: {}.", wrong.join(", "))
    }
}
