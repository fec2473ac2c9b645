//! [`Spec`]: a sweep as it stands in TOML, and the points that it comes to.

use std::collections::BTreeMap;
use std::path::Path;

use config::{Error, Source, Spanned};
use record::sweep::{Link, Networks, Sweep};
use serde::Deserialize;
use toml::{Table, Value};
use units::{Bytes, Rate, Span};

use super::settings::{Effort, Mix, Settings};
use crate::draw::{Arrivals, Observed, mixed};
use crate::model::{Fleet, Model};
use crate::plan::Plan;

/// A sweep, checked and with its defaults filled in.
#[derive(Debug, Clone)]
pub struct Spec {
    pub(super) index: Sweep,
    pub(super) works: Vec<Work>,
    pub(super) text: String,
}

/// What is to be simulated at one point.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) curve: String,
    pub(super) x: f64,
    pub(super) mix: Mix,
    pub(super) model: Model,
    pub(super) plan: Plan,
    /// Whether it takes more than the paper's parameters to say what the model is.
    whole: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sweep: About,
    model: Option<Spanned<Settings>>,
    plan: Option<Spanned<Effort>>,
    quick: Option<Spanned<Effort>>,
    #[serde(default, rename = "curve")]
    curves: Vec<Spanned<Table>>,
    #[serde(default)]
    grid: BTreeMap<Spanned<String>, Spanned<Vec<Value>>>,
    networks: Option<NetworksEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    x: Option<Spanned<String>>,
    #[serde(default)]
    figures: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworksEntry {
    sizes: Spanned<Vec<Size>>,
    links: Vec<LinkEntry>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Size(#[serde(with = "config::quantity")] Bytes);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LinkEntry {
    name: String,
    #[serde(with = "config::quantity")]
    bits_per_second: Rate,
}

/// One setting of the grid: the curve's name, its settings, and where in the file they stand.
type Curve = (String, Settings);

impl Spec {
    /// Parses and checks a spec; with its quick plan when `quick`. Files that it names are looked for in
    /// `directory`.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(source: &Source, directory: &Path, quick: bool) -> Result<Self, Error> {
        let file: File = source.parse()?;
        let text = source.text().to_owned();
        let index = |parameter: &str| Sweep {
            title: file.sweep.title.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick,
            parameter: parameter.to_owned(),
            curves: Vec::new(),
            figures: file.sweep.figures.clone(),
            points: Vec::new(),
            networks: None,
        };
        if let Some(networks) = &file.networks {
            alone(source, &file)?;
            let index = Sweep { networks: Some(carried(source, networks)?), ..index("size") };
            return Ok(Self { index, works: Vec::new(), text });
        }
        let effort = |given: &Option<Spanned<Effort>>| {
            given.as_ref().map_or_else(Effort::default, |given| given.get_ref().clone())
        };
        let effort = if quick { effort(&file.quick).over(&effort(&file.plan)) } else { effort(&file.plan) };
        let plan = effort.plan().map_err(|why| source.missing(why))?;
        let swept = swept(source, &file)?;
        let (values, curves) = (values(source, swept)?, curves(source, &file, swept.0)?);
        let mut works = Vec::new();
        for (curve, settings) in &curves {
            for (x, value) in &values {
                let settings = value.over(settings);
                let (model, mix) = settings.model(directory).map_err(|why| {
                    source.error(swept.1.span(), format!("{} {x} of curve \"{curve}\": {why}", swept.0))
                })?;
                let whole = settings.has_file() || matches!(model.arrivals, Arrivals::Observed(_));
                works.push(Work { curve: curve.clone(), x: *x, mix, model, plan, whole });
            }
        }
        let index = Sweep {
            curves: curves.into_iter().map(|(name, _)| name).collect(),
            points: works.iter().map(Work::words).collect(),
            ..index(swept.0)
        };
        Ok(Self { index, works, text })
    }

    /// What it is about.
    pub fn title(&self) -> &str {
        &self.index.title
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.works.len()
    }
}

/// The parameter along the curves, and its values.
fn swept<'a>(source: &Source, file: &'a File) -> Result<(&'a str, &'a Spanned<Vec<Value>>), Error> {
    let mend = "add [grid] with a list, such as cv = [1, 2, 3, 4]";
    match &file.sweep.x {
        Some(x) => {
            let entry = file.grid.iter().find(|(name, _)| name.get_ref() == x.get_ref());
            let (name, values) = entry.ok_or_else(|| {
                source
                    .error(x.span(), format!("\"{}\" is to be varied and is not in [grid]", x.get_ref()))
                    .mend(mend)
            })?;
            Ok((name.get_ref(), values))
        }
        None => {
            let mut entries = file.grid.iter();
            let (name, values) =
                entries.next().ok_or_else(|| source.missing("nothing is varied").mend(mend))?;
            match entries.next() {
                None => Ok((name.get_ref(), values)),
                Some((second, _)) => Err(source
                    .error(second.span(), "several parameters are varied")
                    .mend("say in [sweep] with x = \"NAME\" which one goes along the curves")),
            }
        }
    }
}

/// Parameters that are times.
const TIMES: [&str; 3] = ["static-time", "quota-period", "network"];

/// The places along the curves: numbers, each with what it sets.
fn values(
    source: &Source,
    (name, list): (&str, &Spanned<Vec<Value>>),
) -> Result<Vec<(f64, Settings)>, Error> {
    let span = |text: &str| text.parse().ok().filter(|_| TIMES.contains(&name)).map(Span::as_secs_f64);
    let number = |value: &Value| match value {
        Value::String(text) if span(text).is_some() => Ok(span(text).unwrap_or_default()),
        Value::Integer(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        other => Err(source
            .error(list.span(), format!("{other} is not a number, and {name} is to be varied along curves"))
            .mend("take another parameter as x in [sweep]")),
    };
    let set = each(source, name, list)?;
    list.get_ref().iter().zip(set).map(|(value, settings)| Ok((number(value)?, settings))).collect()
}

/// What each value of a parameter sets.
fn each(source: &Source, name: &str, list: &Spanned<Vec<Value>>) -> Result<Vec<Settings>, Error> {
    if list.get_ref().is_empty() {
        return Err(source.error(list.span(), format!("there are no values of {name}")));
    }
    let one = |value: &Value| {
        let table = Table::from_iter([(name.to_owned(), value.clone())]);
        table.try_into::<Settings>().map_err(|why| source.error(list.span(), why.message()))
    };
    list.get_ref().iter().map(one).collect()
}

/// The curves of the spec, each as often as there are combinations of the grid's other parameters.
fn curves(source: &Source, file: &File, swept: &str) -> Result<Vec<Curve>, Error> {
    let mut curves = Vec::new();
    let base = file.model.as_ref().map_or_else(Settings::default, |model| model.get_ref().clone());
    for entry in &file.curves {
        let mut table = entry.get_ref().clone();
        let Some(Value::String(name)) = table.remove("name") else {
            return Err(source.error(entry.span(), "a curve has no name").mend("add name = \"...\""));
        };
        let settings: Settings = table.try_into().map_err(|why| source.error(entry.span(), why.message()))?;
        curves.push((name, settings.over(&base)));
    }
    if curves.is_empty() {
        curves.push((String::new(), base));
    }
    for (name, list) in file.grid.iter().filter(|(name, _)| name.get_ref() != swept) {
        let set = each(source, name.get_ref(), list)?;
        curves = curves
            .iter()
            .flat_map(|(curve, base)| {
                let values = list.get_ref().iter().zip(&set);
                values.map(move |(value, settings)| {
                    let comma = if curve.is_empty() { "" } else { ", " };
                    (format!("{curve}{comma}{} {value}", name.get_ref()), settings.over(base))
                })
            })
            .collect();
    }
    let twice =
        curves.iter().enumerate().find(|(index, one)| curves[..*index].iter().any(|other| other.0 == one.0));
    match twice {
        Some((_, (name, _))) => Err(source.missing(format!("there are two curves \"{name}\""))),
        None => Ok(curves),
    }
}

/// Nothing is simulated to know what networks carry.
fn alone(source: &Source, file: &File) -> Result<(), Error> {
    let given = [
        ("[model]", file.model.as_ref().map(Spanned::span)),
        ("[plan]", file.plan.as_ref().map(Spanned::span)),
        ("[quick]", file.quick.as_ref().map(Spanned::span)),
        ("[[curve]]", file.curves.first().map(Spanned::span)),
        ("[grid]", file.grid.keys().next().map(Spanned::span)),
        ("x", file.sweep.x.as_ref().map(Spanned::span)),
    ];
    match given.into_iter().find_map(|(name, place)| Some((name, place?))) {
        Some((name, place)) => Err(source
            .error(place, format!("{name} has no meaning beside [networks]: nothing is simulated"))
            .mend("leave it out, or write it into a spec of its own")),
        None => Ok(()),
    }
}

/// A network carries as many requests as their sizes leave room for.
fn carried(source: &Source, entry: &NetworksEntry) -> Result<Networks, Error> {
    let sizes: Vec<f64> = entry.sizes.get_ref().iter().map(|size| size.0.0 as f64).collect();
    if sizes.is_empty() || sizes.contains(&0.0) {
        return Err(source.error(entry.sizes.span(), "sizes must be one or more, each above 0 bytes"));
    }
    let links = entry.links.iter().map(|link| {
        let bits_per_second = link.bits_per_second.as_f64();
        let rates = sizes.iter().map(|size| bits_per_second / 8.0 / size).collect();
        Link { name: link.name.clone(), bits_per_second, rates }
    });
    Ok(Networks { links: links.collect(), sizes })
}

impl Work {
    /// What is simulated: two points whose words are the same have the same outcome.
    fn words(&self) -> String {
        let Self { mix, model, plan, curve, x, whole } = self;
        let is_more =
            *whole || model.quota.is_some() || model.network > 0.0 || model.fleet != Fleet::default();
        let rest = if is_more { format!("; model {:016x}", fingerprint(model)) } else { String::new() };
        let queue = model.queue.map_or("no limit".to_owned(), |queue| queue.to_string());
        let warmup = plan.warmup.map_or("its warm-up".to_owned(), |warmup| warmup.to_string());
        format!(
            "{curve} at {x}: load {}, {} arrivals, {} dynamic of cost {}, {} s, {} service, {} threads, queue {queue}, {}, {} processors; seed {}, {} requests after {warmup}, {} replications, precision {}{rest}",
            model.load().unwrap_or(f64::NAN),
            model.arrivals,
            mix.dynamic,
            mix.cost,
            mix.static_time,
            model.service,
            model.threads,
            model.discipline,
            model.processors,
            plan.seed,
            plan.requests,
            plan.replications,
            plan.precision.unwrap_or(0.0),
        )
    }
}

/// A number that is equal for two models with equal text and arrivals.
fn fingerprint(model: &Model) -> u64 {
    let mut text = model.to_toml_beside("");
    if let Arrivals::Observed(Observed { gaps, dynamic }) = &model.arrivals {
        text.extend(gaps.iter().map(|gap| format!(" {gap}")));
        text.extend(dynamic.iter().flat_map(|dynamic| dynamic.iter()).map(|dynamic| format!(" {dynamic}")));
    }
    text.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Spec, String> {
        let text = format!("[sweep]\ntitle = \"t\"\n{text}");
        Spec::parse(&Source::new("s.toml", text), Path::new("."), false).map_err(|why| why.to_string())
    }

    #[test]
    fn curves_and_grid_make_points() {
        let spec = parse(
            "x = \"cv\"\n[[curve]]\nname = \"a\"\nload = 0.5\n[[curve]]\nname = \"b\"\n[grid]\ncv = [1, 2.5]\nqueue = [0, \"none\"]\n[model]\nload = 0.9\n[plan]\nrequests = \"1k\"",
        );
        let spec = spec.unwrap();
        assert_eq!(spec.index.curves, ["a, queue 0", "a, queue \"none\"", "b, queue 0", "b, queue \"none\""]);
        assert_eq!(spec.points(), 8);
        let work = &spec.works[3];
        assert_eq!((work.x, work.model.queue, work.plan.requests), (2.5, None, 1000));
        assert!((work.model.load().unwrap() - 0.5).abs() < 1e-12);
        assert!((spec.works[4].model.load().unwrap() - 0.9).abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let check = |text: &str, expected: &str| {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("", "s.toml: nothing is varied");
        check("[grid]\nqueues = [1]", "s.toml:4: unknown field `queues`");
        check("[grid]\ncv = [0.5]", "s.toml:4: cv 0.5 of curve \"\": hyperexponential");
        check("[grid]\ncv = []", "s.toml:4: there are no values of cv");
        check("[grid]\nqueue = [\"none\"]", "s.toml:4: \"none\" is not a number");
        check("[grid]\ncv = [1]\nload = [1]", "s.toml:5: several parameters are varied");
        check("x = \"load\"\n[grid]\ncv = [1]", "s.toml:3: \"load\" is to be varied");
        check("[grid]\ncv = [1]\n[plan]\nreplications = 1", "replications must be at least 2");
        check("[[curve]]\ncv = 1\n[grid]\nload = [1]", "s.toml:3: a curve has no name");
        check("[grid]\nqueue = [-1]", "s.toml:4: cannot read \"-1\": expected a whole number of requests");
        check("[model]\narrivals = \"h2:3\"\n[grid]\ncv = [2]", "h2:3 has a variation of its own");
        check("[grid]\nstatic-time = [\"fast\"]", "s.toml:4: ");
        check("[model]\nfile = \"no-such.toml\"\n[grid]\nload = [1]", "no-such.toml: cannot read it");
        let networks = "[networks]\nsizes = [\"1k\"]\nlinks = []\n";
        for more in ["[grid]\ncv = [1]", "[model]\ncv = 2", "[plan]\nseed = 1", "[[curve]]\nname = \"a\""] {
            check(&format!("{networks}{more}"), "has no meaning beside [networks]");
        }
        check("[networks]\nsizes = [0]\nlinks = []", "s.toml:4: sizes must be one or more, each above 0");
        check("[model]\nthread = 3\n[grid]\nload = [1]", "did you mean \"threads\"");
    }

    #[test]
    fn a_model_file_is_swept() {
        let directory = tempfile::tempdir().unwrap();
        let write = |keep: &str| {
            let text = format!(
                "rate = 50\n[[class]]\nname = 'a'\nshare = 1\ndemand = '10ms'\n[equipment]\nkeep-alive = '{keep}'\n"
            );
            std::fs::write(directory.path().join("shop.toml"), text).unwrap();
        };
        let parse = || {
            let text = "[sweep]\ntitle = \"t\"\nx = \"rate\"\n[model]\nfile = \"shop.toml\"\n[grid]\nrate = [20, 40]\nqueue = [5, 10]";
            Spec::parse(&Source::new("s.toml", text), directory.path(), false).unwrap()
        };
        write("1s");
        let spec = parse();
        let work = &spec.works[3];
        assert_eq!((work.x, work.model.queue, work.model.rate()), (40.0, Some(10), Some(40.0)));
        assert_eq!((work.model.equipment.keep_alive, work.model.classes.len()), (Some(1.0), 1));
        assert!(work.mix.dynamic.is_nan());
        // What only the file says makes another sweep as well.
        write("2s");
        assert_ne!(parse().index.points, spec.index.points);
    }

    #[test]
    fn a_rate_takes_the_place_of_a_load_and_times_are_swept() {
        let spec = parse(
            "[model]\nload = 0.5\n[[curve]]\nname = \"a\"\nrate = 3\n[grid]\nstatic-time = [\"2ms\", \"1s\"]",
        )
        .unwrap();
        assert_eq!(spec.works.iter().map(|work| work.x).collect::<Vec<_>>(), [0.002, 1.0]);
        assert_eq!(spec.works[0].model.rate(), Some(3.0));
    }

    #[test]
    fn a_network_carries_its_bandwidth() {
        let spec =
            parse("[networks]\nsizes = [\"1k\"]\nlinks = [{ name = \"T1\", bits-per-second = \"1.5M\" }]")
                .unwrap();
        let networks = spec.index.networks.unwrap();
        assert_eq!(networks.links[0].rates, [187.5]);
    }
}
