//! The page that is shown first: who suffers, classes, charts, knobs, servers.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};

use super::model::Model;
use super::{charts, knobs, panel};
use crate::figures::{Lately, SHORT_TITLES, TITLES, server, whole};

/// Of a figure's column, unless its title needs more.
const FIGURE: u16 = 7;
/// From here on titles are not short.
const WIDE: u16 = 80;
/// Of the column of names, at least and at most.
const NAME: (u16, u16) = (8, 24);
/// A sentence and the figures have so many rows at most.
const MAX_TEXT: u16 = 3;
/// Servers that have a row of their own.
const MAX_SERVERS: usize = 4;
/// With fewer rows servers are left out, as the sentence names those that are down.
const ROOM_FOR_SERVERS: u16 = 16;
/// With fewer rows the figures are left out while there is something to decide.
const ROOM_FOR_FIGURES: u16 = 16;
/// A chart with fewer rows says little.
const CHART: u16 = 8;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, now: Instant) {
    let theme = model.theme;
    let classes = model.lately();
    let verdict = &model.state.verdict;
    let sentence = Line::styled(&*verdict.words, if verdict.is_bad() { theme.bad } else { theme.good });
    let figures = Line::from(whole(&model.state, model.newest()).join("   "));
    let rows = |line: &Line<'_>| {
        let rows = tui::wrapped(std::slice::from_ref(line), area.width.max(1));
        u16::try_from(rows).unwrap_or(MAX_TEXT).clamp(1, MAX_TEXT)
    };
    let desk = knobs::lines(model, area.width);
    let panel = panel::lines(model, area.width, now);
    let servers = servers(model, area);
    let count = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
    let table_rows = (count(classes.len()) + 1).min((area.height / 2).max(2));
    let is_tight = area.height < ROOM_FOR_FIGURES && !panel.is_empty();
    // What matters less gives way first: charts, servers, figures.
    let [told, table, figure, knob, below, behind] = Layout::vertical([
        Constraint::Length(rows(&sentence)),
        Constraint::Length(table_rows),
        Constraint::Max(if is_tight { 0 } else { rows(&figures) }),
        Constraint::Max(count(desk.len())),
        Constraint::Fill(1),
        Constraint::Max(count(servers.len())),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(sentence).wrap(Wrap { trim: true }), told);
    draw_classes(frame, table, model, &classes);
    frame.render_widget(Paragraph::new(figures).wrap(Wrap { trim: true }), figure);
    frame.render_widget(Paragraph::new(desk), knob);
    draw_below(frame, below, model, panel);
    frame.render_widget(Paragraph::new(servers), behind);
}

/// Charts, and a panel of what would come of other knobs, for which there is always the room that it needs; where there
/// is not enough for both, it covers the charts. So nothing moves when it comes and goes.
fn draw_below(frame: &mut Frame<'_>, area: Rect, model: &Model, mut lines: Vec<Line<'static>>) {
    let rows = panel::rows(model);
    let has_room = area.height >= rows.saturating_add(CHART);
    if !has_room && lines.is_empty() {
        return charts::draw(frame, area, model);
    }
    if lines.is_empty() {
        lines.push(panel::hint(model));
    }
    let rows = if has_room { rows } else { area.height };
    let [panel, chart] = Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(area);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), panel);
    charts::draw(frame, chart, model);
}

fn draw_classes(frame: &mut Frame<'_>, area: Rect, model: &Model, classes: &[Lately]) {
    let theme = model.theme;
    let longest = classes.iter().map(|class| Line::from(class.name.as_str()).width()).max().unwrap_or(0);
    let name = u16::try_from(longest).unwrap_or(NAME.1).clamp(NAME.0, NAME.1);
    let titles = if area.width >= WIDE { TITLES } else { SHORT_TITLES };
    let figure = |title: &str| FIGURE.max(u16::try_from(title.chars().count()).unwrap_or(FIGURE));
    let columns = if area.width >= WIDE {
        titles.len()
    } else {
        usize::from(area.width.saturating_sub(name) / (FIGURE + 1)).min(titles.len())
    };
    let right = |text: String| Text::from(Line::from(text).alignment(Alignment::Right));
    let header = [Text::from("class")]
        .into_iter()
        .chain(titles.iter().take(columns).map(|title| right((*title).to_owned())));
    // There may be more classes than rows; what is not shown is said.
    let shown = usize::from(area.height.saturating_sub(1));
    let (shown, more) =
        if classes.len() > shown { (shown.saturating_sub(1), true) } else { (classes.len(), false) };
    let mut rows: Vec<Row<'_>> = classes
        .iter()
        .take(shown)
        .map(|class| {
            let figures = class.row().into_iter().take(columns).map(right);
            let style =
                if class.refused_share() > 0.01 { theme.strong } else { ratatui::style::Style::new() };
            Row::new([Text::from(class.name.as_str())].into_iter().chain(figures).map(Cell::from))
                .style(style)
        })
        .collect();
    if more {
        let text = format!("{} more", classes.len() - shown);
        rows.push(Row::new([Cell::from(text)]).style(theme.label));
    }
    let widths = [Constraint::Length(name)]
        .into_iter()
        .chain(titles.iter().take(columns).map(|title| Constraint::Length(figure(title))));
    let header = Row::new(header.map(Cell::from)).style(theme.label);
    frame.render_widget(Table::new(rows, widths).header(header).column_spacing(1), area);
}

/// A row for each server, those that are down first.
fn servers(model: &Model, area: Rect) -> Vec<Line<'static>> {
    let all = &model.state.upstream.servers;
    if area.height < ROOM_FOR_SERVERS || all.is_empty() {
        return Vec::new();
    }
    let theme = model.theme;
    let mut ordered: Vec<_> = all.iter().collect();
    ordered.sort_by_key(|server| server.standing == "up");
    let line = |one: &&crate::api::state::Server| {
        Line::styled(server(one), if one.standing == "up" { theme.label } else { theme.bad })
    };
    let mut lines: Vec<Line<'static>> = ordered.iter().take(MAX_SERVERS).map(line).collect();
    if let Some(more @ 1..) = all.len().checked_sub(MAX_SERVERS) {
        lines.push(Line::styled(format!("{more} more servers"), theme.label));
    }
    lines
}
