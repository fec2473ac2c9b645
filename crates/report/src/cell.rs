//! [`Cell`]: what a table holds, as values with units, so that tables can be sorted, copied and written by whom
//! shows them.

use std::fmt;

use serde::Serialize;
use stats::Estimate;

use crate::unit::Unit;

/// What a cell of a table holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Quantity(Quantity),
    /// Words.
    Text(String),
    /// Nothing was measured.
    Nothing,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// What it is in.
    pub unit: Unit,
    /// Where the true value lies with a confidence of 95 %, in the same unit; none where it is not an estimate.
    pub ci: Option<[f64; 2]>,
}

impl Quantity {
    pub(crate) fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit, ci: None }
    }

    pub(crate) fn number(value: f64) -> Self {
        Self::new(value, Unit::Number)
    }

    pub(crate) fn count(value: f64) -> Self {
        Self::new(value, Unit::Count)
    }

    pub(crate) fn percent(share: f64) -> Self {
        Self::new(share, Unit::Percent)
    }

    pub(crate) fn seconds(seconds: f64) -> Self {
        Self::new(seconds, Unit::Seconds)
    }

    pub(crate) fn rate(per_second: f64) -> Self {
        Self::new(per_second, Unit::Rate)
    }
}

impl fmt::Display for Quantity {
    /// With its interval where it has one: `300 µs (270 µs to 330 µs)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unit.written(self.value))?;
        match self.ci.map(|ci| ci.map(|end| self.unit.written(end))) {
            Some([low, high]) => write!(f, " ({low} to {high})"),
            None => Ok(()),
        }
    }
}

impl Cell {
    pub(crate) fn text(words: &str) -> Self {
        Self::Text(words.to_owned())
    }

    /// The value of an estimate, without its interval.
    pub(crate) fn value_of(estimate: Option<Estimate>, unit: Unit) -> Self {
        estimate.map(|estimate| Quantity::new(estimate.value, unit)).into()
    }
}

impl From<Quantity> for Cell {
    fn from(quantity: Quantity) -> Self {
        Self::Quantity(quantity)
    }
}

impl From<Option<Quantity>> for Cell {
    fn from(quantity: Option<Quantity>) -> Self {
        quantity.map_or(Self::Nothing, Self::Quantity)
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Self::Text(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_written_with_its_interval() {
        let quantity = Quantity { ci: Some([0.000_27, 0.000_33]), ..Quantity::seconds(0.000_3) };
        assert_eq!(quantity.to_string(), "300 µs (270 µs to 330 µs)");
        assert_eq!(Quantity::new(0.001, Unit::Difference).to_string(), "+0.10 %");
        assert_eq!(Quantity::count(1001.0).to_string(), "1001");
    }

    #[test]
    fn a_cell_says_number_and_unit_or_words_or_nothing() {
        let cells = [Quantity::rate(95.0).into(), Cell::text("none"), Cell::Nothing];
        let json = serde_json::to_string(&cells).unwrap();
        assert_eq!(json, r#"[{"value":95.0,"unit":"rate","ci":null},"none",null]"#);
    }
}
