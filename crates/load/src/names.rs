//! Settings that are one of a few names.

/// A name that is not among those that are expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct UnknownName(pub(crate) String);

/// Gives each value of a type its name, for the command line and for records.
macro_rules! names {
    ($kind:ty: $($value:path => $name:literal),+) => {
        impl $kind {
            /// Its name on the command line and in records.
            pub const fn name(self) -> &'static str {
                match self {
                    $($value => $name,)+
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::names::UnknownName;

            fn from_str(text: &str) -> Result<Self, $crate::names::UnknownName> {
                match text {
                    $($name => Ok($value),)+
                    _ => Err($crate::names::UnknownName([$($name),+].join(", "))),
                }
            }
        }
    };
}

pub(crate) use names;
