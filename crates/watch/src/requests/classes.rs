//! [`Classes`]: requests by the size of their responses.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use units::Bytes;

/// Bounds between classes, growing. A class has all responses above the bound before it, up to and with its
/// own (the paper's section 2.3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes(Vec<Bytes>);

/// Classes that can be told apart at once.
pub const MAX_CLASSES: usize = 16;

impl Classes {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len() + 1
    }

    /// Which class a response of so many bytes is of.
    pub fn of(&self, size: Bytes) -> usize {
        self.0.partition_point(|bound| *bound < size)
    }

    /// The names of all, in the order of their sizes: `0-50k`, `50k-500k`, `500k-`.
    pub fn names(&self) -> Vec<String> {
        let ends = self.names_of_bounds();
        let begins = std::iter::once("0").chain(ends.iter().map(String::as_str));
        let ends = ends.iter().map(String::as_str).chain(std::iter::once(""));
        begins.zip(ends).map(|(begin, end)| format!("{begin}-{end}")).collect()
    }

    /// Between them.
    pub(crate) fn bounds(&self) -> &[Bytes] {
        &self.0
    }

    fn names_of_bounds(&self) -> Vec<String> {
        let short = |bytes: &Bytes| match bytes.0 {
            n if n > 0 && n.is_multiple_of(1_000_000) => format!("{}M", n / 1_000_000),
            n if n > 0 && n.is_multiple_of(1000) => format!("{}k", n / 1000),
            n => n.to_string(),
        };
        self.0.iter().map(short).collect()
    }
}

/// Figures by the names of classes, in the order of their sizes.
pub(crate) fn by_size<T>(classes: &BTreeMap<String, T>) -> Vec<(&str, &T)> {
    let least = |name: &str| name.split('-').next().and_then(|least| least.parse::<Bytes>().ok());
    let mut sorted: Vec<_> = classes.iter().map(|(name, figures)| (name.as_str(), figures)).collect();
    sorted.sort_by_key(|(name, _)| least(name));
    sorted
}

impl Default for Classes {
    /// Those of the paper's workload: pages and images, sounds, videos.
    fn default() -> Self {
        Self(vec![Bytes(50_000), Bytes(500_000)])
    }
}

/// What is wrong with a list of classes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadClasses {
    /// Not a size.
    #[error("\"{0}\" is not a size such as 50k")]
    Size(String),
    /// Not growing.
    #[error("bounds must grow: 50k,500k")]
    Order,
    /// Too many.
    #[error("at most {MAX_CLASSES} classes can be told apart")]
    Many,
}

impl FromStr for Classes {
    type Err = BadClasses;

    fn from_str(text: &str) -> Result<Self, BadClasses> {
        let bound = |text: &str| text.trim().parse().map_err(|_| BadClasses::Size(text.trim().to_owned()));
        let bounds: Vec<Bytes> = text.split(',').map(bound).collect::<Result<_, _>>()?;
        if bounds.len() >= MAX_CLASSES {
            return Err(BadClasses::Many);
        }
        let grow = bounds.is_sorted_by(|one, other| one < other);
        if grow { Ok(Self(bounds)) } else { Err(BadClasses::Order) }
    }
}

/// As it is read.
impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names_of_bounds().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_the_class_below() {
        let classes: Classes = "50k,1M".parse().unwrap();
        assert_eq!(classes.names(), ["0-50k", "50k-1M", "1M-"]);
        assert_eq!(classes.to_string(), "50k,1M");
        let of = |bytes| classes.of(Bytes(bytes));
        assert_eq!([0, 50_000, 50_001, 1_000_000, 1_000_001].map(of), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn classes_are_told_by_size_not_by_name() {
        let classes: Classes = "50k,500k,1M".parse().unwrap();
        let figures: BTreeMap<String, ()> = classes.names().into_iter().map(|name| (name, ())).collect();
        let names: Vec<_> = by_size(&figures).into_iter().map(|(name, ())| name).collect();
        assert_eq!(names, classes.names());
    }

    #[test]
    fn what_is_no_list_is_refused() {
        assert_eq!("50k,much".parse::<Classes>(), Err(BadClasses::Size("much".to_owned())));
        assert_eq!("50k,50k".parse::<Classes>(), Err(BadClasses::Order));
        assert_eq!(["1"; 16].join(",").parse::<Classes>(), Err(BadClasses::Many));
    }
}
