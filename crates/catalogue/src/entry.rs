//! [`Entry`]: what is declared of a metric, and [`metrics!`], which declares it.

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
    /// The name in the record behind this, with `_` for its dots.
    Behind(&'static str),
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

/// Declares the metrics of a module, one a line: `CONSTANT = "name", Kind, Unit, "Help."`, with what else differs
/// from the entry that the module names as common to all. The name is the one in the record for `sampled`, the one
/// of scrapers for `exposed`.
macro_rules! metrics {
    (sampled like $like:expr;
     $($constant:ident = $name:literal, $kind:ident, $unit:ident, $help:literal $(, $key:ident: $value:expr)*;)*) => {
        $crate::entry::metrics! { all $like;
            $($constant, $kind, $unit, $help, sampled: $name $(, $key: $value)*;)* }
    };
    (exposed like $like:expr;
     $($constant:ident = $name:literal, $kind:ident, $unit:ident, $help:literal $(, $key:ident: $value:expr)*;)*) => {
        $crate::entry::metrics! { all $like;
            $($constant, $kind, $unit, $help, exposed: $crate::entry::Exposed::As($name) $(, $key: $value)*;)* }
    };
    (all $like:expr;
     $($constant:ident, $kind:ident, $unit:ident, $help:literal $(, $key:ident: $value:expr)*;)*) => {
        $(
            #[doc = $help]
            pub const $constant: $crate::Metric = $crate::Metric::of(&$crate::entry::Entry {
                kind: $crate::Kind::$kind,
                unit: $crate::Unit::$unit,
                help: $help,
                $($key: $value,)*
                ..$like
            });
        )*

        /// All metrics of this module.
        pub const ALL: &[$crate::Metric] = &[$($constant),*];
    };
}

pub(crate) use metrics;
