//! Pages that are lists: who waits, and what operators changed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};
use serde_json::Value;
use tui::figures::{clock, number, time};

use super::model::Model;
use crate::api::queue::Request;

pub(super) fn queue(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let count = match &model.queue {
        Some(Ok(queue)) => format!("{} requests wait", number(queue.waiting)),
        _ => "who waits".to_owned(),
    };
    let mut title = vec![Span::styled(count, theme.strong)];
    if model.wanted.offset > 0 {
        title.push(Span::styled(format!(", from {} on", model.wanted.offset + 1), theme.label));
    }
    if model.searching || !model.wanted.search.is_empty() {
        let cursor = if model.searching { "_" } else { "" };
        title.push(Span::styled(format!("   search: {}{cursor}", model.wanted.search), theme.line));
    }
    frame.render_widget(Line::from(title), head);
    let queue = match &model.queue {
        Some(Ok(queue)) => queue,
        Some(Err(why)) => {
            let text = Paragraph::new(Line::styled(why.as_str(), theme.bad)).wrap(Wrap { trim: true });
            return frame.render_widget(text, body);
        }
        None => return frame.render_widget(Line::styled("asking the gate ..", theme.label), body),
    };
    let columns = columns(&queue.requests, area.width);
    let rows = queue.requests.iter().take(usize::from(body.height)).map(|request| {
        Row::new(columns.iter().map(|(column, _)| Cell::from((column.read)(request))).collect::<Vec<_>>())
    });
    let titles = columns.iter().map(|(column, _)| Cell::from(column.title));
    let header = Row::new(titles.collect::<Vec<_>>()).style(theme.label);
    let widths: Vec<Constraint> = columns.iter().map(|(_, width)| *width).collect();
    frame.render_widget(Table::new(rows, widths).header(header).column_spacing(1), body);
}

/// A column of what waits.
struct Column {
    title: &'static str,
    read: fn(&Request) -> String,
    /// At least and at most; of that it has what its texts need.
    width: (usize, usize),
    /// Which is left out first where there is less room; none of what makes a request known.
    gives_way: Option<u8>,
}

const COLUMNS: [Column; 6] = [
    Column { title: "age", read: |one| time(one.age.max(0.0)), width: (8, 8), gives_way: None },
    Column {
        title: "class",
        read: |one| one.class.clone().unwrap_or_else(|| "-".to_owned()),
        width: (6, 16),
        gives_way: Some(2),
    },
    Column {
        title: "stage",
        read: |one| one.stage.clone().unwrap_or_else(|| "-".to_owned()),
        width: (8, 10),
        gives_way: Some(0),
    },
    Column { title: "client", read: |one| one.client.clone(), width: (9, 39), gives_way: Some(1) },
    // As it is searched for, so all of it; 64 bits have 16 digits.
    Column { title: "id", read: |one| one.id.clone(), width: (12, 16), gives_way: None },
    Column {
        title: "request",
        read: |one| format!("{} {}", one.method, one.path),
        width: (6, 6),
        gives_way: None,
    },
];

/// Those that there is room for; the last has what is left.
fn columns(requests: &[Request], width: u16) -> Vec<(&'static Column, Constraint)> {
    let needed = |column: &Column| {
        let longest = requests.iter().map(|one| (column.read)(one).chars().count()).max().unwrap_or(0);
        longest.clamp(column.width.0, column.width.1)
    };
    let mut columns: Vec<(&'static Column, usize)> =
        COLUMNS.iter().map(|column| (column, needed(column))).collect();
    while columns.iter().map(|(_, width)| width + 1).sum::<usize>() > usize::from(width) + 1 {
        let least = columns.iter().filter_map(|(column, _)| column.gives_way).min();
        let Some(least) = least else { break };
        columns.retain(|(column, _)| column.gives_way != Some(least));
    }
    let last = columns.len().saturating_sub(1);
    let constraint = |(i, (column, width)): (usize, (&'static Column, usize))| {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        (column, if i == last { Constraint::Fill(1) } else { Constraint::Length(width) })
    };
    columns.into_iter().enumerate().map(constraint).collect()
}

pub(super) fn changes(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let theme = model.theme;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let count = match model.changes.len() {
        0 => "no operator has changed anything since the gate began".to_owned(),
        1 => "one change".to_owned(),
        many => format!("{many} changes, the last first"),
    };
    frame.render_widget(Line::styled(count, theme.strong), head);
    let now = model.clock();
    let lines = model.changes.iter().skip(model.scroll).take(usize::from(body.height)).map(|change| {
        let ago = format!("{} ago", clock(now - change.at));
        Line::from(vec![
            Span::styled(format!("{ago:<14} "), theme.label),
            Span::styled(format!("{} ", change.what), theme.strong),
            Span::raw(format!("{}  ", difference(&change.old, &change.new))),
            Span::styled(change.who.as_str(), theme.label),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), body);
}

/// What is new; of an object only the fields that are other than before.
fn difference(old: &Value, new: &Value) -> String {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return format!("{} -> {}", bare(old), bare(new));
    };
    let differ = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let texts = differ.map(|(name, value)| {
        format!("{name} {} -> {}", before.get(name).map_or_else(|| "-".to_owned(), bare), bare(value))
    });
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { "as before".to_owned() } else { texts.join(", ") }
}

/// A text without its quotation marks.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
