//! The knobs: where they are, and where the user would have them.

use ratatui::text::{Line, Span};

use super::desk::Knob;
use super::model::Model;
use crate::api::state::Knobs;

/// Columns of a bar, at most.
const BAR: u16 = 20;
/// Columns that the rest of the line takes with the names of the ends; below this there are only figures.
const TEXT: u16 = 60;

pub(super) fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    [Knob::Differentiation, Knob::Favour].map(|one| knob(model, one, width)).into()
}

fn knob(model: &Model, knob: Knob, width: u16) -> Line<'static> {
    let theme = model.theme;
    let (name, low, high) = match knob {
        Knob::Differentiation => ("d differentiation", "all alike", "strict priority"),
        Knob::Favour => ("f favour", "short waits", "many sessions"),
    };
    let read = |knobs: Knobs| match knob {
        Knob::Differentiation => knobs.differentiation,
        Knob::Favour => knobs.favour,
    };
    let holds = read(model.state.knobs);
    let wanted =
        model.desk.wanted(model.state.knobs).map(read).filter(|wanted| (wanted - holds).abs() > 1e-9);
    let style = if model.desk.chosen == Some(knob) { theme.strong } else { theme.label };
    let mut pieces = vec![Span::styled(format!("{name:<17} "), style)];
    if let Some(room) = width.checked_sub(TEXT) {
        let bar = usize::from(room.min(BAR));
        let filled = ((wanted.unwrap_or(holds).clamp(0.0, 1.0) * bar as f64).round() as usize).min(bar);
        pieces.push(Span::styled(format!("{low:>11} "), theme.label));
        pieces.push(Span::styled("\u{2588}".repeat(filled), theme.line));
        pieces.push(Span::styled("\u{2591}".repeat(bar - filled), theme.label));
        pieces.push(Span::styled(format!(" {high:<15}"), theme.label));
    }
    pieces.push(Span::styled(format!(" {holds:.2}"), theme.strong));
    if let Some(wanted) = wanted {
        pieces.push(Span::styled(format!(" -> {wanted:.2}?"), theme.strong));
    }
    if model.state.is_shadow() {
        pieces.push(Span::styled("  does nothing in shadow mode", theme.label));
    }
    Line::from(pieces)
}
