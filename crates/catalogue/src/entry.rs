//! [`Entry`]: what is declared of a metric.

use crate::{Kind, Unit, Viewpoint};

/// What is declared of a metric.
#[derive(Debug)]
pub(crate) struct Entry {
    /// In `samples.parquet`; empty for what is not recorded.
    pub(crate) sampled: &'static str,
    /// For scrapers and collectors.
    pub(crate) exposed: Exposed,
    /// OpenTelemetry's name where its semantic conventions have one.
    pub(crate) convention: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) unit: Unit,
    pub(crate) viewpoint: Viewpoint,
    /// Names of labels, in the order in which they are written.
    pub(crate) labels: &'static [&'static str],
    /// A sentence.
    pub(crate) help: &'static str,
}

/// Under which name scrapers and collectors find a metric.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Exposed {
    /// It is only recorded.
    No,
    /// This one.
    As(&'static str),
    /// The name in the record behind this, with `_` for its dots and the unit at its end; what is recorded per second is told as the total that it comes to.
    Scraped(&'static str),
    /// As the total that its values come to over time, called this.
    Summed(&'static str),
}

impl Entry {
    /// What modules fill in: neither recorded nor exposed, without labels.
    pub(crate) const fn blank(viewpoint: Viewpoint) -> Self {
        Self {
            sampled: "",
            exposed: Exposed::No,
            convention: None,
            kind: Kind::Gauge,
            unit: Unit::Number,
            viewpoint,
            labels: &[],
            help: "",
        }
    }
}
