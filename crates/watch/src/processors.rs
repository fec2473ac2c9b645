//! Which processors there are.

use std::fs;

/// The numbers of the processors that are switched on.
pub(crate) fn online() -> Vec<usize> {
    fs::read_to_string("/sys/devices/system/cpu/online").map(|text| numbers(&text)).unwrap_or_default()
}

/// The numbers in a list of ranges, such as "0-2,4" (cpuset(7), "List format").
fn numbers(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ranges_are_read() {
        assert_eq!(numbers("0-2,4,6-7\n"), [0, 1, 2, 4, 6, 7]);
        assert_eq!((numbers("0\n"), numbers("")), (vec![0], vec![]));
    }
}
