//! Classes as they are beside what they would be, or were: [in a sentence](price), and [in columns](table).

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tui::Theme;
use tui::figures::{number, time};

use super::verdict::{Verdict, compare, judge};
use crate::api::estimate::Estimate;
use crate::api::foresight::{Class, Point};
use crate::api::outcome::Outcome;

/// Classes that are shown; the others are counted.
pub(super) const MAX_CLASSES: usize = 8;
const NAME: (usize, usize) = (8, 20);
/// Of a cell, with the blank before it, unless its title needs more.
const CELL: usize = 8;
/// Of an interval beside the last cell of a group.
const INTERVAL: usize = 22;
/// Between two groups of cells.
const GAP: usize = 2;
/// Of the words at the end, with the blanks before them.
const WORDS: usize = 26;

/// All classes at one time.
#[derive(Debug)]
pub(super) struct Column {
    title: &'static str,
    classes: Vec<Class>,
    together: Estimate,
}

impl Column {
    pub(super) fn predicted(title: &'static str, point: &Point) -> Self {
        Self { title, classes: point.classes.clone(), together: point.throughput }
    }

    pub(super) fn measured(title: &'static str, outcome: &Outcome) -> Self {
        Self { title, classes: outcome.figures(), together: outcome.together() }
    }

    /// Of what is not known yet, so that its column has a place.
    pub(super) fn unknown(title: &'static str) -> Self {
        Self { title, classes: Vec::new(), together: Estimate::default() }
    }

    pub(super) fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    pub(super) fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn width(&self) -> usize {
        CELL.max(self.title.len() + 1)
    }
}

/// What it costs whom: sessions that are lost, refused or given up, of each class, and what is completed in sum.
/// `judges` is whether differences are those of the knobs, so that it is said where there are none.
pub(super) fn price(first: Option<&Column>, last: &Column, judges: bool) -> String {
    let same = |before: Option<Estimate>, after| {
        let is_same = before.is_some_and(|before| compare(before, after).is_none());
        if judges && is_same { " (no noticeable difference)" } else { "" }
    };
    let change = |before: Option<Estimate>, after: Estimate, say: fn(f64) -> String| {
        let before_mean = before.and_then(|before| before.mean);
        let from = before_mean.map_or_else(String::new, |mean| format!("{} -> ", say(mean)));
        after.mean.map(|mean| format!("{from}{}{}", say(mean), same(before, after)))
    };
    let one = |class: &Class| {
        let before = first.and_then(|first| first.class(&class.name)).map(|before| before.completion);
        let lost = change(before, class.completion, lost);
        format!("{} {}", class.name, lost.unwrap_or_else(|| "had no sessions lately".to_owned()))
    };
    let mut classes: Vec<String> = last.classes.iter().take(MAX_CLASSES).map(one).collect();
    if let Some(more @ 1..) = last.classes.len().checked_sub(MAX_CLASSES) {
        classes.push(format!("{more} more"));
    }
    let together = change(first.map(|first| first.together), last.together, rate);
    let together = together.map_or_else(String::new, |sum| format!(" Completed together: {sum}."));
    format!("Lost of 100 sessions: {}.{together}", classes.join(", "))
}

/// A figure of each class.
struct Figure {
    title: &'static str,
    read: fn(&Class) -> Estimate,
    say: fn(f64) -> String,
    more_is_better: bool,
    /// Whether what is said is the less, the larger the figure.
    is_reversed: bool,
}

const FIGURES: [Figure; 3] = [
    Figure {
        title: "lost of 100",
        read: |class| class.completion,
        say: lost,
        more_is_better: true,
        is_reversed: true,
    },
    Figure {
        title: "95 % within",
        read: |class| class.p95,
        say: |value| time(value.max(0.0)),
        more_is_better: false,
        is_reversed: false,
    },
    Figure {
        title: "completed",
        read: |class| class.completed,
        say: rate,
        more_is_better: true,
        is_reversed: false,
    },
];

/// Of 100 sessions.
fn lost(completion: f64) -> String {
    let lost = (1.0 - completion).clamp(0.0, 1.0) * 100.0;
    if lost < 9.95 && (lost - lost.round()).abs() >= 0.05 {
        format!("{lost:.1}")
    } else {
        format!("{lost:.0}")
    }
}

fn rate(value: f64) -> String {
    format!("{}/s", number(value.max(0.0)))
}

impl Figure {
    fn interval(&self, estimate: Estimate) -> String {
        let Some(mut ends) = estimate.interval() else { return String::new() };
        if self.is_reversed {
            ends.reverse();
        }
        let [low, high] = ends.map(self.say);
        format!(" ({low} to {high})")
    }
}

/// How much of the table there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    name: usize,
    figures: usize,
    words: bool,
    intervals: bool,
}

impl Extent {
    fn width(self, columns: &[Column]) -> usize {
        let interval = if self.intervals { INTERVAL } else { 0 };
        let group = columns.iter().map(Column::width).sum::<usize>() + interval;
        let words = if self.words { WORDS } else { 0 };
        self.name + self.figures * group + self.figures.saturating_sub(1) * GAP + words
    }

    /// What matters less gives way first: intervals, how many are completed, words, response times.
    fn within(width: u16, name: usize, columns: &[Column]) -> Self {
        let of = |(figures, words, intervals)| Self { name, figures, words, intervals };
        let all = [(3, true, true), (3, true, false), (2, true, false), (2, false, false)].map(of);
        let fits = |extent: &Self| extent.width(columns) <= usize::from(width);
        all.into_iter().find(fits).unwrap_or_else(|| of((1, false, false)))
    }
}

/// Classes down; across, figure by figure, all columns. The last column is judged against the first.
pub(super) fn table(columns: &[Column], judges: bool, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let Some(named) = columns.iter().rev().find(|column| !column.classes.is_empty()) else {
        return Vec::new();
    };
    let shown = &named.classes[..named.classes.len().min(MAX_CLASSES)];
    let longest = shown.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
    let extent = Extent::within(width, longest.clamp(NAME.0, NAME.1), columns);
    let mut lines = heads(columns, extent, theme);
    lines.extend(shown.iter().map(|class| row(&class.name, columns, judges, extent, theme)));
    if let Some(more @ 1..) = named.classes.len().checked_sub(MAX_CLASSES) {
        lines.push(Line::styled(format!("{more} more classes"), theme.label));
    }
    lines
}

fn row(class: &str, columns: &[Column], judges: bool, extent: Extent, theme: Theme) -> Line<'static> {
    let end = |column: Option<&Column>| column.and_then(|column| column.class(class)).cloned();
    let ends = end(columns.first()).zip(end(columns.last())).filter(|_| judges);
    let mut pieces = vec![name(class, extent.name, theme)];
    for (i, figure) in FIGURES.iter().take(extent.figures).enumerate() {
        let of = |column: &Column| column.class(class).map(figure.read).unwrap_or_default();
        let more = ends.as_ref().and_then(|(first, last)| compare((figure.read)(first), (figure.read)(last)));
        let style = match more.map(|more| more == figure.more_is_better) {
            Some(true) => theme.good,
            Some(false) => theme.bad,
            None => Style::new(),
        };
        let cells: Vec<Estimate> = columns.iter().map(of).collect();
        pieces.extend(group(i, figure, &cells, columns, extent, style));
    }
    let verdict = ends.filter(|_| extent.words).and_then(|(first, last)| judge(&first, &last));
    if let Some(verdict) = verdict {
        let style = match verdict {
            Verdict::Better => theme.good,
            Verdict::Worse => theme.bad,
            Verdict::Same | Verdict::MoreSlower | Verdict::FewerFaster => Style::new(),
        };
        pieces.push(Span::styled(format!("  {}", verdict.words()), style));
    }
    Line::from(pieces)
}

fn name(name: &str, width: usize, theme: Theme) -> Span<'static> {
    Span::styled(format!("{:<width$}", name.chars().take(width).collect::<String>()), theme.strong)
}

fn heads(columns: &[Column], extent: Extent, theme: Theme) -> Vec<Line<'static>> {
    let (mut above, mut below) = (" ".repeat(extent.name), " ".repeat(extent.name));
    let interval = if extent.intervals { INTERVAL } else { 0 };
    for (i, figure) in FIGURES.iter().take(extent.figures).enumerate() {
        let gap = if i == 0 { 0 } else { GAP };
        let width = columns.iter().map(Column::width).sum::<usize>();
        above += &format!("{:gap$}{:>width$}{:interval$}", "", figure.title, "");
        below += &" ".repeat(gap);
        for column in columns {
            below += &format!("{:>1$}", column.title, column.width());
        }
        below += &" ".repeat(interval);
    }
    [above, below].map(|line| Line::styled(line.trim_end().to_owned(), theme.label)).into()
}

/// The cells of a figure; `style` is that of the last.
fn group(
    index: usize,
    figure: &Figure,
    cells: &[Estimate],
    columns: &[Column],
    extent: Extent,
    style: Style,
) -> Vec<Span<'static>> {
    let mut pieces = vec![Span::raw(" ".repeat(if index == 0 { 0 } else { GAP }))];
    for (i, (cell, column)) in cells.iter().zip(columns).enumerate() {
        let text = cell.mean.map_or_else(|| "-".to_owned(), figure.say);
        let style = if i + 1 == cells.len() { style } else { Style::new() };
        pieces.push(Span::styled(format!("{text:>0$}", column.width()), style));
    }
    if let Some(last) = cells.last().filter(|_| extent.intervals) {
        pieces.push(Span::raw(format!("{:<INTERVAL$}", figure.interval(*last))));
    }
    pieces
}
