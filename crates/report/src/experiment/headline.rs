//! What came out, in words, from the figures and nothing else.

use stats::Estimate;

use super::model::Capacity;
use super::model::{ClassPoint, ExperimentReport, Point};
use crate::conclusion::{Conclusion, KeyFigure};
use crate::text::{self, level_in_words, number, percent, seconds, times};

/// Two subjects at the hardest level that both were measured at, or one where the other is missing.
struct Comparison<'a> {
    report: &'a ExperimentReport,
    /// The class that matters most.
    class: &'a str,
    /// What is judged.
    subject: &'a Point,
    /// What it is judged against.
    reference: Option<&'a Point>,
}

/// The verdict on a report's points.
pub(super) fn of(report: &ExperimentReport) -> Conclusion {
    let Some(comparison) = Comparison::of(report) else {
        return nothing(report);
    };
    let details = [
        comparison.counts(),
        comparison.durations(),
        comparison.others(),
        comparison.other_classes(),
        comparison.total(),
        comparison.below_capacity(),
    ];
    Conclusion {
        headline: comparison.headline(),
        details: details.into_iter().flatten().collect(),
        figures: comparison.figures(),
    }
}

/// The verdict where no test counts.
fn nothing(report: &ExperimentReport) -> Conclusion {
    let (headline, details) = match report.tests.len() {
        0 => ("Nothing has been measured yet".to_owned(), vec![]),
        1 => ("The only test does not count".to_owned(), vec!["The list of tests says why.".to_owned()]),
        n => (format!("None of the {n} tests counts"), vec!["The list of tests says why.".to_owned()]),
    };
    Conclusion { headline, details, figures: report.capacity.iter().map(capacity).collect() }
}

impl<'a> Comparison<'a> {
    /// `gate` against `bare` where they are so called, else the last subject against the first.
    fn of(report: &'a ExperimentReport) -> Option<Self> {
        let named = |name: &str| report.subjects.iter().find(|subject| *subject == name);
        let reference = named("bare").or_else(|| report.subjects.first())?;
        let subject = named("gate").or_else(|| report.subjects.last())?;
        let class = &report.classes.first()?.name;
        let at = |name: &str, level: f64| report.point(name, level);
        let hardest = |wanted: &dyn Fn(f64) -> bool| {
            report
                .points
                .iter()
                .map(|point| point.level)
                .filter(|level| wanted(*level))
                .max_by(f64::total_cmp)
        };
        let both = hardest(&|level| at(subject, level).is_some() && at(reference, level).is_some());
        let (subject, reference) = match both {
            Some(level) if subject != reference => (at(subject, level)?, at(reference, level)),
            _ => {
                let level = hardest(&|_| true)?;
                (at(subject, level).or_else(|| at(reference, level))?, None)
            }
        };
        Some(Self { report, class, subject, reference })
    }

    fn level(&self) -> String {
        let factor = &self.report.factor;
        let level = level_in_words(self.subject.level, &factor.unit);
        if factor.unit.is_empty() { format!("{} {level}", factor.label()) } else { level }
    }

    fn class_of<'p>(&self, point: &'p Point) -> Option<&'p ClassPoint> {
        point.class(self.class)
    }

    fn headline(&self) -> String {
        let share = |point: &Point| self.class_of(point).and_then(|class| class.share);
        let (at, who, class) = (self.level(), who(&self.subject.subject), self.class);
        let Some(judged) = share(self.subject) else {
            return format!("At {at} no {class} session reached {who}");
        };
        let first = format!("At {at} {who} completed {} of {class} sessions", percent(judged.value));
        let Some((reference, other)) = self.reference.and_then(|point| Some((point, share(point)?))) else {
            return first;
        };
        let undecided = if judged.overlaps(&other) { ", no difference that counts" } else { "" };
        format!("{first}; {}, {}{undecided}", who_short(&reference.subject), percent(other.value))
    }

    /// The counts behind the headline: a share of few sessions is to be read with care.
    fn counts(&self) -> Option<String> {
        let judged = self.class_of(self.subject)?;
        let mut text = format!(
            "That is {} of {} {} sessions {}",
            judged.completed,
            judged.started,
            self.class,
            place(&self.subject.subject)
        );
        if let Some((reference, other)) =
            self.reference.and_then(|point| Some((point, self.class_of(point)?)))
        {
            text += &format!(", and {} of {} {}", other.completed, other.started, place(&reference.subject));
        }
        Some(text + ".")
    }

    fn durations(&self) -> Option<String> {
        let median = |point: &Point| Some(self.class_of(point)?.duration.as_ref()?.median);
        let judged = median(self.subject)?;
        let mut text = format!(
            "The median {} session then waited {} {}",
            self.class,
            seconds(judged.value),
            place(&self.subject.subject)
        );
        if let Some((unloaded, value)) = self.unloaded() {
            let times = times(judged.value / value.value);
            text += &format!(
                ", {times} times what it waited {} at {} ({})",
                place(&unloaded.subject),
                level_in_words(unloaded.level, &self.report.factor.unit),
                seconds(value.value)
            );
        }
        if let Some((reference, other)) = self.reference.and_then(|point| Some((point, median(point)?))) {
            text += &format!(
                "; {}, {} for those that got through",
                place(&reference.subject),
                seconds(other.value)
            );
        }
        Some(text + ".")
    }

    /// What the other subjects made of the same load.
    fn others(&self) -> Option<String> {
        let compared = [Some(self.subject), self.reference];
        let others: Vec<String> = (self.report.subjects.iter())
            .filter(|name| compared.iter().flatten().all(|point| point.subject != **name))
            .filter_map(|name| {
                let class = self.report.point(name, self.subject.level)?.class(self.class)?;
                let mut text = format!("{name} {}", percent(class.share?.value));
                if let Some(duration) = &class.duration {
                    text += &format!(" (median {})", seconds(duration.median.value));
                }
                Some(text)
            })
            .collect();
        let list = text::list(&others);
        (!others.is_empty()).then(|| format!("Of the same {} sessions completed: {list}.", self.class))
    }

    /// The reference at the lightest load below capacity: what a session takes when it need not wait.
    fn unloaded(&self) -> Option<(&'a Point, Estimate)> {
        let name = &self.reference.unwrap_or(self.subject).subject;
        let point = self.report.points.iter().find(|point| &point.subject == name)?;
        let lightest =
            self.report.is_relative_load() && point.level < 1.0 && point.level < self.subject.level;
        let median = point.class(self.class)?.duration.as_ref()?.median;
        (lightest && median.value > 0.0).then_some((point, median))
    }

    fn other_classes(&self) -> Option<String> {
        let mut sentences = Vec::new();
        for class in self.report.classes.iter().skip(1) {
            let share = |point: &Point| point.class(&class.name).and_then(|class| class.share);
            let Some(judged) = share(self.subject) else { continue };
            let mut text = format!(
                "Of {} sessions {} completed {}",
                class.name,
                who(&self.subject.subject),
                percent(judged.value)
            );
            if let Some((reference, other)) = self.reference.and_then(|point| Some((point, share(point)?))) {
                text += &format!(", {} {}", who(&reference.subject), percent(other.value));
            }
            sentences.push(text + ".");
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn total(&self) -> Option<String> {
        let judged = self.subject.goodput?;
        let mut text = format!(
            "In all, {} completed {} sessions per second",
            who(&self.subject.subject),
            number(judged.value)
        );
        if let Some(share) = self.report.share_of_most(self.subject) {
            text += &format!(", {} of what can be completed at most", percent(share));
        }
        if let Some((reference, other)) = self.reference.and_then(|point| Some((point, point.goodput?))) {
            text += &format!(", {} {}", who(&reference.subject), number(other.value));
            let share = self.report.share_of_most(reference);
            text += &share.map_or(String::new(), |share| format!(", {}", percent(share)));
        }
        if let Some(capacity) = &self.report.capacity {
            text += &format!("; capacity is {}", number(capacity.rate.value));
        }
        Some(text + ".")
    }

    /// What the subject costs below capacity, where it is not needed.
    fn below_capacity(&self) -> Option<String> {
        let reference = self.reference?;
        let report = self.report;
        if !report.is_relative_load() {
            return None;
        }
        let of = |name: &str| {
            report
                .points
                .iter()
                .filter(|p| p.subject == name && p.level < 1.0)
                .max_by(|a, b| a.level.total_cmp(&b.level))
        };
        let (judged, other) = (of(&self.subject.subject)?, of(&reference.subject)?);
        if judged.level != other.level {
            return None;
        }
        Some(format!(
            "Below capacity, at {}×, {} completed {} of all sessions, {} {}.",
            judged.level,
            who(&judged.subject),
            percent(judged.share()?.value),
            who(&other.subject),
            percent(other.share()?.value)
        ))
    }

    fn figures(&self) -> Vec<KeyFigure> {
        let at = self.level();
        let where_ = place(&self.subject.subject);
        let class = self.class_of(self.subject);
        let against = |value: Option<String>| {
            self.reference.and_then(|point| Some(format!("{} {}", who_short(&point.subject), value?)))
        };
        let other = self.reference.and_then(|point| self.class_of(point));
        let share = class.and_then(|class| class.share).map(|share| KeyFigure {
            value: percent(share.value),
            label: format!("of {} sessions completed {where_} at {at}", self.class),
            note: notes([
                against(other.and_then(|class| Some(percent(class.share?.value)))),
                share.ci.map(|[low, high]| format!("95 % interval {} to {}", percent(low), percent(high))),
            ]),
        });
        let median = class.and_then(|class| class.duration.as_ref()).map(|duration| KeyFigure {
            value: seconds(duration.median.value),
            label: format!("median wait in those {} sessions", self.class),
            note: notes([
                against(other.and_then(|class| Some(seconds(class.duration.as_ref()?.median.value)))),
                self.unloaded().map(|(_, unloaded)| {
                    format!("{} times the unloaded one", times(duration.median.value / unloaded.value))
                }),
            ]),
        });
        let total = self.subject.goodput.map(|goodput| KeyFigure {
            value: format!("{}/s", number(goodput.value)),
            label: format!("sessions of all classes completed {where_} then"),
            note: notes([
                against(self.reference.and_then(|point| Some(format!("{}/s", number(point.goodput?.value))))),
                self.report
                    .share_of_most(self.subject)
                    .map(|share| format!("{:.0} % of what can be completed at most", 100.0 * share)),
            ]),
        });
        [share, median, total, self.report.capacity.as_ref().map(capacity)].into_iter().flatten().collect()
    }
}

impl ExperimentReport {
    /// Whether levels are multiples of capacity, so that below 1 nothing is overloaded.
    pub(super) fn is_relative_load(&self) -> bool {
        self.factor.unit == "x capacity"
    }

    /// Sessions per second that can be completed at most at a point, by an admission that knows beforehand what comes: no
    /// more than set out, which is by chance more or less than was offered, and no more than the server carries on its own.
    pub(super) fn at_most(&self, point: &Point) -> Option<Estimate> {
        let capacity = self.capacity.as_ref().filter(|_| self.is_relative_load())?.rate;
        // Those that had begun before end in the window as well.
        let set_out = point.started.max(point.completed_inside) as f64 / point.window;
        Some(if set_out < capacity.value { Estimate { value: set_out, ci: None } } else { capacity })
    }

    /// How much of that was.
    fn share_of_most(&self, point: &Point) -> Option<f64> {
        Some(point.goodput?.value / self.at_most(point)?.value)
    }
}

fn capacity(capacity: &Capacity) -> KeyFigure {
    let interval =
        capacity.rate.ci.map(|[low, high]| format!("95 % interval {} to {}", number(low), number(high)));
    let (what, time) = capacity.unit.split_once('/').unwrap_or((&capacity.unit, "s"));
    KeyFigure {
        value: format!("{}/{time}", number(capacity.rate.value)),
        label: format!("{what} that the server carries on its own: its capacity"),
        note: notes([interval, Some("found before the tests".to_owned())]),
    }
}

fn notes(parts: [Option<String>; 2]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A subject as the one who does something.
fn who(subject: &str) -> String {
    match subject {
        "bare" => "the bare server".to_owned(),
        other => who_short(other),
    }
}

/// A subject where it has been introduced.
fn who_short(subject: &str) -> String {
    match subject.split_once(", ") {
        None if subject == "gate" => "the gate".to_owned(),
        Some(("gate", settings)) => format!("the gate ({settings})"),
        _ => subject.to_owned(),
    }
}

/// A subject as the place where something happens.
fn place(subject: &str) -> String {
    match subject {
        "bare" => "on the bare server".to_owned(),
        other if other.split(", ").next() == Some("gate") => format!("behind {}", who_short(other)),
        other => format!("with {other}"),
    }
}
