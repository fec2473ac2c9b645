//! [`Counted`]: a number of things, as it is said.

use core::fmt;

/// A number of things, as it is said: `1 page`, `2 pages`. For things whose name takes an s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a>(pub usize, pub &'a str);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString as _;

    #[test]
    fn one_of_them_is_one() {
        let said = [0, 1, 2].map(|count| Counted(count, "rule").to_string());
        assert_eq!(said, ["0 rules", "1 rule", "2 rules"]);
    }
}
