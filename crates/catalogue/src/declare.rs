//! [`metrics!`]: declares the metrics of a module.

/// Declares the metrics of a module, one a line: `CONSTANT = "name", Kind, Unit, "Help."`, with what else differs
/// from the entry that the module names as common to all. The name is the one in the record for `sampled`, the one
/// of scrapers for `exposed`.
macro_rules! metrics {
    (sampled like $like:expr;
     $($constant:ident = $name:literal, $kind:ident, $unit:ident, $help:literal $(, $key:ident: $value:expr)*;)*) => {
        $crate::declare::metrics! { all $like;
            $($constant, $kind, $unit, $help, sampled: $name $(, $key: $value)*;)* }
    };
    (exposed like $like:expr;
     $($constant:ident = $name:literal, $kind:ident, $unit:ident, $help:literal $(, $key:ident: $value:expr)*;)*) => {
        $crate::declare::metrics! { all $like;
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
