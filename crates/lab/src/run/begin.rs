//! The record of an experiment before anything is measured.

use std::path::{Path, PathBuf};

use record::Timestamp;
use record::experiment::{Class, Experiment, Factor, OtherFactor, Server};

use super::options::Options;
use crate::spec::experiment::Spec;
use crate::spec::factors::{self, number, words};

/// The record before anything is measured.
pub(super) fn begin(options: &Options, spec: &Spec, version: String) -> Experiment {
    Experiment {
        title: spec.title.clone(),
        seed: options.seed(),
        started: Timestamp::now(),
        ended: None,
        interrupted: false,
        version: options.version.clone(),
        command: options.command.clone(),
        server: Server { kind: spec.server.kind.name().to_owned(), version },
        factor: axis(spec),
        others: others(spec),
        subjects: spec.subjects.iter().map(|subject| subject.name().to_owned()).collect(),
        classes: classes(spec),
        generator: None,
        capacity: None,
        tests: Vec::new(),
        limits: Vec::new(),
    }
}

/// What figures have on their axis; that of a search is the load, whatever else is varied.
fn axis(spec: &Spec) -> Factor {
    let first = spec.factors.first().filter(|_| !spec.is_search());
    Factor {
        name: first.map(|factor| factor.name.clone()).unwrap_or_default(),
        unit: first.map(|factor| factor.unit().to_owned()).unwrap_or_default(),
        levels: first.map(|factor| factor.levels.iter().filter_map(number).collect()).unwrap_or_default(),
    }
}

fn others(spec: &Spec) -> Vec<OtherFactor> {
    let other = |factor: &factors::Factor| OtherFactor {
        name: factor.name.clone(),
        label: factor.label(),
        unit: factor.unit().to_owned(),
        levels: factor.levels.iter().map(words).collect(),
        published: factor.published.clone(),
    };
    spec.factors.iter().skip(usize::from(!spec.is_search())).map(other).collect()
}

fn classes(spec: &Spec) -> Vec<Class> {
    let constant = |number: usize| spec.constant.iter().find(|constant| constant.class == number);
    (0..)
        .zip(&spec.workload.classes)
        .map(|(number, class)| Class {
            name: class.name.to_string(),
            share: class.share,
            load: constant(number).map(|constant| constant.load),
        })
        .collect()
}

pub(super) fn default_directory(spec: &Path) -> PathBuf {
    // An experiment that is repeated is named by its directory.
    let of_directory = spec.parent().filter(|_| spec.ends_with("run.toml")).and_then(Path::file_name);
    let name = of_directory.or(spec.file_stem()).unwrap_or_default().to_string_lossy();
    let time: String =
        Timestamp::now().to_string().chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
    Path::new("runs").join(format!("{name}-{time}"))
}
