//! `[[factor]]`: what is varied, and which combinations of levels are tested.

use std::collections::BTreeMap;
use std::ops::Range;

use config::{Error, Source, Spanned};
use record::experiment::Published;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value};

use super::settings;

/// The factor that the others are measured against: multiples of the capacity.
const LOAD: &str = "load";
/// What a setting of the gate begins with.
const GATE: &str = "gate.";
/// Parts of a spec whose values can be varied.
const PARTS: [&str; 7] = ["server", "workload", "sysctl", "cgroup", "link", "client", "search"];

/// What is varied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factor {
    /// `load`, or a setting of the gate such as `gate.look-ahead`.
    pub(crate) name: String,
    /// In the order of the spec, each once.
    pub(crate) levels: Vec<Value>,
    /// The number of the level that it is held at while another is varied.
    default: usize,
    /// What is known of the levels from elsewhere.
    pub(crate) published: Option<Published>,
    /// Where its name stands in the spec.
    pub(super) place: Range<usize>,
}

/// Which combinations of levels are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Combinations {
    /// All of them.
    #[default]
    Factorial,
    /// One factor at a time away from its default; where the first is on the axis of figures, at every level of that.
    OneAtATime,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FactorEntry {
    /// `load`, or the place of a value in the spec, such as `server.workers`.
    name: Spanned<String>,
    /// The values that it takes.
    #[schemars(with = "Vec<serde_json::Value>")]
    levels: Spanned<Vec<Value>>,
    /// Which of them it has while another factor is varied.
    #[schemars(with = "Option<serde_json::Value>")]
    default: Option<Spanned<Value>>,
    /// What somebody else found, shown beside what is found here.
    published: Option<Spanned<PublishedEntry>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PublishedEntry {
    /// Where it is from, such as a paper and its figure.
    source: String,
    /// Requests a second by level; not every level has to be there.
    #[schemars(with = "BTreeMap<String, f64>")]
    rates: BTreeMap<Spanned<String>, Spanned<f64>>,
}

impl Factor {
    pub(crate) fn is_load(&self) -> bool {
        self.name == LOAD
    }

    /// Whether it is a value of the spec itself, by its place there: `server.workers`, `cgroup.cpu`.
    pub(crate) fn is_of_spec(&self) -> bool {
        is_of_spec(&self.name)
    }

    /// The setting that it is, without `gate.` in front.
    pub(crate) fn gate_key(&self) -> Option<&str> {
        self.name.strip_prefix(GATE)
    }

    /// What tests and curves are called by: `look-ahead`, `basic target-queue`.
    pub(crate) fn label(&self) -> String {
        record::experiment::label(&self.name)
    }

    /// What its levels are multiples of, in the record's words.
    pub(crate) fn unit(&self) -> &'static str {
        if self.is_load() { "x capacity" } else { "" }
    }
}

fn is_of_spec(name: &str) -> bool {
    name.split_once('.').is_some_and(|(part, key)| PARTS.contains(&part) && !key.is_empty())
}

/// A level in words, without quotes, numbers as short as can be.
pub(crate) fn words(level: &Value) -> String {
    match (level, number(level)) {
        (_, Some(number)) => number.to_string(),
        (Value::String(text), None) => text.clone(),
        (other, None) => other.to_string(),
    }
}

/// A level as a number, if it is one.
pub(crate) fn number(level: &Value) -> Option<f64> {
    level.as_float().or_else(|| level.as_integer().map(|whole| whole as f64)).filter(|x| x.is_finite())
}

/// The combinations, as a level's number for each factor. The first factor changes last, so that
/// what is compared at a level of it stands side by side. The one on the axis of figures has all its levels whatever
/// the others have.
pub(crate) fn combinations(factors: &[Factor], which: Combinations, has_axis: bool) -> Vec<Vec<usize>> {
    let (axis, others) = factors.split_at(usize::from(has_axis && !factors.is_empty()));
    let defaults: Vec<usize> = others.iter().map(|factor| factor.default).collect();
    let curves = match which {
        Combinations::Factorial => factorial(others),
        Combinations::OneAtATime => {
            let mut curves = vec![defaults.clone()];
            for (index, factor) in others.iter().enumerate() {
                for level in (0..factor.levels.len()).filter(|&level| level != factor.default) {
                    let mut curve = defaults.clone();
                    curve[index] = level;
                    curves.push(curve);
                }
            }
            curves
        }
    };
    let at = |level: Vec<usize>| curves.iter().map(move |curve| [level.as_slice(), curve].concat());
    factorial(axis).into_iter().flat_map(at).collect()
}

/// All of them; one of nothing where there is not a factor.
fn factorial(factors: &[Factor]) -> Vec<Vec<usize>> {
    factors.iter().fold(vec![Vec::new()], |curves, factor| {
        let with = |curve: Vec<usize>| {
            (0..factor.levels.len()).map(move |level| [curve.as_slice(), &[level]].concat())
        };
        curves.into_iter().flat_map(with).collect()
    })
}

/// Checks the factors; one of them is the load, unless that is searched for.
pub(super) fn check(
    source: &Source,
    entries: Vec<Spanned<FactorEntry>>,
    gate: Option<&Table>,
    is_search: bool,
) -> Result<Vec<Factor>, Error> {
    let mut factors: Vec<Factor> = Vec::with_capacity(entries.len());
    for entry in entries {
        let entry = entry.into_inner();
        let name = entry.name.clone();
        let factor = factor(source, entry, gate)?;
        if factors.iter().any(|other| other.name == factor.name) {
            return Err(source.error(name.span(), format!("factor \"{}\" is there twice", factor.name)));
        }
        factors.push(factor);
    }
    if is_search {
        return match factors.iter().find(|factor| !factor.is_of_spec()) {
            Some(other) => Err(source
                .error(other.place.clone(), format!("factor \"{}\" does not go with [search]", other.name))
                .mend("vary what the server runs with, such as \"server.workers\" or \"cgroup.cpu\"")),
            None => Ok(factors),
        };
    }
    if let Some(factor) = factors.iter().find(|factor| factor.published.is_some()) {
        return Err(source
            .error(factor.place.clone(), "published rates stand beside capacities, and there is no [search]")
            .mend("leave published out"));
    }
    // Figures have the first factor on their axis.
    if let Some(words) = factors.first().and_then(|axis| axis.levels.iter().find(|l| number(l).is_none())) {
        return Err(source
            .missing(format!("level {words} of the first factor is not a number"))
            .mend("figures are drawn against the first factor; put \"load\" first"));
    }
    if !factors.iter().any(Factor::is_load) {
        let what = if factors.is_empty() { "there is not a factor" } else { "\"load\" is not a factor" };
        return Err(source
            .missing(what)
            .mend("add [[factor]] with name = \"load\" and levels = [0.7, 1, 2, 3]"));
    }
    Ok(factors)
}

fn factor(source: &Source, entry: FactorEntry, gate: Option<&Table>) -> Result<Factor, Error> {
    let name = entry.name.get_ref();
    let span = entry.levels.span();
    let levels = entry.levels.get_ref();
    if levels.is_empty() {
        return Err(source.error(span, "there are no levels").mend(if name == LOAD {
            "give multiples of the capacity"
        } else {
            "give the values that it is to have"
        }));
    }
    match name.strip_prefix(GATE) {
        _ if name == LOAD => loads(source, &entry.levels)?,
        Some(key) => settings_of_gate(source, &entry, key, gate)?,
        None if is_of_spec(name) => {}
        None => {
            let (part, key) = name.split_once('.').unwrap_or((name, ""));
            let parts = PARTS.into_iter().chain([LOAD, "gate"]);
            let mend = match config::did_you_mean(part, parts) {
                Some(near) if near != part => format!("did you mean \"{near}{}{key}\"?", if key.is_empty() { "" } else { "." }),
                _ => "vary \"load\", a setting of the gate such as \"gate.look-ahead\", or a value of the spec such as \"server.workers\" or \"cgroup.cpu\"".to_owned(),
            };
            return Err(source
                .error(entry.name.span(), format!("factor \"{name}\" is not known"))
                .mend(mend));
        }
    }
    if let Some(twice) = levels
        .iter()
        .enumerate()
        .find(|(index, level)| levels[..*index].iter().any(|before| words(before) == words(level)))
    {
        return Err(source
            .error(span, format!("level {} is there twice", twice.1))
            .mend("for more tests at one level give repeats in [design]"));
    }
    let default = match &entry.default {
        Some(default) => match levels.iter().position(|level| level == default.get_ref()) {
            Some(index) => index,
            None => {
                return Err(source
                    .error(default.span(), format!("default {} is not one of the levels", default.get_ref()))
                    .mend("add it to them"));
            }
        },
        None => 0,
    };
    let place = entry.name.span();
    let published = match entry.published {
        Some(published) => Some(from_elsewhere(source, published, levels)?),
        None => None,
    };
    Ok(Factor { name: name.clone(), levels: entry.levels.into_inner(), default, published, place })
}

/// Whether published rates are of these `levels`.
fn from_elsewhere(
    source: &Source,
    entry: Spanned<PublishedEntry>,
    levels: &[Value],
) -> Result<Published, Error> {
    let place = entry.span();
    let entry = entry.into_inner();
    let known: Vec<String> = levels.iter().map(words).collect();
    let mut rates = BTreeMap::new();
    for (level, rate) in entry.rates {
        if !known.contains(level.get_ref()) {
            let why = format!("published: \"{}\" is not one of the levels", level.get_ref());
            return Err(source.error(level.span(), why).mend(format!("they are {}", known.join(", "))));
        }
        if !(rate.get_ref().is_finite() && *rate.get_ref() > 0.0) {
            let why = format!("published: {} is not a rate", rate.get_ref());
            return Err(source.error(rate.span(), why).mend("give requests a second, above 0"));
        }
        rates.insert(level.into_inner(), rate.into_inner());
    }
    if let Some(first) = known.first().filter(|first| !rates.contains_key(*first)) {
        return Err(source
            .error(place, format!("published: nothing of level {first}, which the others are compared with"))
            .mend("give its rate, or put another level first"));
    }
    Ok(Published { source: entry.source, rates })
}

fn loads(source: &Source, levels: &Spanned<Vec<Value>>) -> Result<(), Error> {
    match levels.get_ref().iter().find(|level| number(level).is_none_or(|load| load <= 0.0)) {
        Some(level) => Err(source
            .error(levels.span(), format!("level {level} is not a load"))
            .mend("levels are multiples of the capacity, above 0")),
        None => Ok(()),
    }
}

/// Whether there is a gate that the levels can be put into; what it makes of them it says itself.
fn settings_of_gate(
    source: &Source,
    entry: &FactorEntry,
    key: &str,
    gate: Option<&Table>,
) -> Result<(), Error> {
    let name = entry.name.get_ref();
    let Some(gate) = gate else {
        return Err(source
            .error(entry.name.span(), format!("factor \"{name}\" is one of the gate and there is no [gate]"))
            .mend("add [gate]; it may be empty"));
    };
    if key.split('.').any(str::is_empty) {
        return Err(source
            .error(entry.name.span(), format!("factor \"{name}\" names no setting"))
            .mend("write it as gate.KEY, such as gate.look-ahead"));
    }
    for level in entry.levels.get_ref() {
        settings::set_key(&mut gate.clone(), key, level.clone())
            .map_err(|why| source.error(entry.name.span(), format!("factor \"{name}\": {why}")))?;
    }
    Ok(())
}
