//! [`FittedClass`]: kinds of requests, how many there are of each, how large and how dear.

use serde::{Serialize, Serializer};
use stats::{Deviations, order};

use super::demands::Demands;
use super::observation::{Observation, Request};
use super::options::Stated;
use crate::draw::Service;
use crate::model::{DYNAMIC, STATIC};

/// A kind of request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedClass {
    /// `static` or `dynamic`.
    pub name: String,
    /// How many there are.
    pub requests: u64,
    /// Their share of all requests.
    pub share: f64,
    /// What one needs of a processor on average, in seconds; `None` where that is not known.
    pub demand: Option<f64>,
    /// The law of what requests of the class need around that; `None` where it is not known.
    #[serde(serialize_with = "as_text")]
    pub service: Option<Service>,
    /// Whether that was stated, and not observed.
    pub stated: bool,
    /// For how long the server had one, in seconds.
    pub took: Option<Quantiles>,
    /// How large complete responses are, in bytes.
    pub size: Option<Quantiles>,
}

fn as_text<S: Serializer>(service: &Option<Service>, serializer: S) -> Result<S::Ok, S::Error> {
    match service {
        Some(service) => serializer.collect_str(service),
        None => serializer.serialize_none(),
    }
}

/// A distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many values there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation over mean.
    pub cv: f64,
    /// The median.
    pub p50: f64,
    /// Nine of ten are not above this.
    pub p90: f64,
    /// 99 of 100 are not above this.
    pub p99: f64,
}

impl Quantiles {
    fn of(values: Vec<f64>) -> Option<Self> {
        let deviations = Deviations::of(&values);
        let rising = order::rising(values);
        Some(Self {
            count: rising.len() as u64,
            mean: deviations.mean(),
            cv: deviations.population_cv(),
            p50: order::nearest_rank(&rising, 0.5)?,
            p90: order::nearest_rank(&rising, 0.9)?,
            p99: order::nearest_rank(&rising, 0.99)?,
        })
    }
}

pub(super) fn classes(
    observation: &Observation,
    demands: Option<&Demands>,
    stated: Stated,
    remarks: &mut Vec<String>,
) -> Vec<FittedClass> {
    let all = observation.requests.len() as f64;
    let mut classes = Vec::new();
    let observed =
        |index: usize| demands.and_then(|demands| demands.needs.means.get(index).copied().flatten());
    let static_time = stated.static_time.or_else(|| observed(0));
    let given = [stated.static_time, stated.dynamic_cost.and_then(|cost| Some(cost * static_time?))];
    for (index, name) in [STATIC, DYNAMIC].into_iter().enumerate() {
        let own = || observation.requests.iter().filter(move |request| usize::from(request.dynamic) == index);
        let requests = own().count() as u64;
        if requests == 0 {
            continue;
        }
        let stated = given.get(index).copied().flatten();
        let demand = stated.or_else(|| observed(index));
        if demands.is_some() && demand.is_none() {
            remarks.push(format!("Too few {name} requests were served to say what they cost."));
        }
        let complete = |request: &&Request| request.status == Some(200);
        let values = |value: fn(&Request) -> Option<f64>| {
            Quantiles::of(own().filter(|request| request.is_served()).filter_map(value).collect())
        };
        classes.push(FittedClass {
            name: name.to_owned(),
            requests,
            share: requests as f64 / all,
            demand,
            service: demands.filter(|_| demand.is_some()).map(|demands| demands.needs.laws[index]),
            stated: stated.is_some(),
            took: values(|request| request.took),
            size: Quantiles::of(
                own()
                    .filter(complete)
                    .filter_map(|request| request.bytes.map(|bytes| bytes as f64))
                    .collect(),
            ),
        });
    }
    remarks.push("Dynamic is what its URL shows to be: a program's extension, /cgi-bin/, a query behind what is not a file. A page made by a program under a plain name counts as static.".to_owned());
    classes
}
