//! What stands in a model file, before it is made a model.

use std::fmt;
use std::str::FromStr;

use config::Spanned;
use serde::Deserialize;
use units::{Bytes, Rate, Ratio, Span};

use crate::model::Room;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) arrivals: Option<Spanned<String>>,
    pub(super) load: Option<Spanned<f64>>,
    pub(super) rate: Option<Spanned<Quantity<Rate>>>,
    pub(super) clients: Option<Spanned<u32>>,
    pub(super) think: Option<Spanned<Quantity<Span>>>,
    pub(super) service: Option<Spanned<String>>,
    pub(super) threads: Option<Spanned<u32>>,
    pub(super) queue: Option<Spanned<Quantity<Room>>>,
    pub(super) drops: Option<Spanned<bool>>,
    pub(super) discipline: Option<Spanned<String>>,
    pub(super) processors: Option<Spanned<u32>>,
    pub(super) quota: Option<Spanned<f64>>,
    #[serde(rename = "quota-period")]
    pub(super) quota_period: Option<Spanned<Quantity<Span>>>,
    pub(super) network: Option<Spanned<Quantity<Span>>>,
    pub(super) servers: Option<Spanned<u32>>,
    pub(super) balancing: Option<Spanned<String>>,
    #[serde(default, rename = "class")]
    pub(super) classes: Vec<Spanned<ClassEntry>>,
    #[serde(default, rename = "tier")]
    pub(super) tiers: Vec<Spanned<TierEntry>>,
    #[serde(default)]
    pub(super) equipment: EquipmentEntry,
    pub(super) patience: Option<Spanned<PatienceEntry>>,
    pub(super) retries: Option<Spanned<RetriesEntry>>,
    #[serde(rename = "slow-clients")]
    pub(super) slow_clients: Option<Spanned<SlowClientsEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ClassEntry {
    pub(super) name: Spanned<String>,
    pub(super) share: f64,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) demand: Option<Span>,
    pub(super) service: Option<Spanned<String>>,
    pub(super) samples: Option<Spanned<String>>,
    pub(super) workers: Option<u32>,
    #[serde(default, with = "config::quantity")]
    pub(super) disk: Span,
    #[serde(default)]
    pub(super) calls: Vec<CallEntry>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) size: Option<Bytes>,
    pub(super) size_cv: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TierEntry {
    pub(super) name: String,
    #[serde(default = "once")]
    pub(super) processors: u32,
    pub(super) threads: u32,
    pub(super) discipline: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallEntry {
    pub(super) tier: Spanned<String>,
    #[serde(with = "config::quantity")]
    pub(super) demand: Span,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) share: Option<Ratio>,
    #[serde(default = "once")]
    pub(super) times: u32,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct EquipmentEntry {
    pub(super) disks: Option<Spanned<u32>>,
    pub(super) link: Option<Spanned<Quantity<Bytes>>>,
    pub(super) client_link: Option<Spanned<Quantity<Bytes>>>,
    pub(super) keep_alive: Option<Spanned<Quantity<Span>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatienceEntry {
    #[serde(with = "config::quantity")]
    pub(super) mean: Span,
    pub(super) law: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetriesEntry {
    #[serde(with = "config::quantity")]
    pub(super) share: Ratio,
    #[serde(with = "config::quantity")]
    pub(super) delay: Span,
    #[serde(default = "constantly")]
    pub(super) backoff: f64,
    pub(super) most: u32,
    #[serde(default)]
    pub(super) anew: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlowClientsEntry {
    pub(super) number: u32,
    pub(super) addresses: Option<u32>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) send: Option<Bytes>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) read: Option<Bytes>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) response: Option<Bytes>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) again: Option<Span>,
    #[serde(default, with = "config::quantity::optional")]
    pub(super) patience: Option<Span>,
}

/// A quantity with a unit where a line number is wanted as well.
#[derive(Clone, Copy, Deserialize)]
#[serde(transparent, bound = "T: FromStr, T::Err: fmt::Display")]
pub(super) struct Quantity<T>(#[serde(with = "config::quantity")] pub(super) T);

fn constantly() -> f64 {
    1.0
}

fn once() -> u32 {
    1
}
