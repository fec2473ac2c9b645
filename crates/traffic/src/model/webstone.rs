//! WebStone: the mix of the Webmonitor paper, and WebStone 2.0's own standard list.
//!
//! WebStone's clients ask for the next page as soon as they have the last one: no pauses.

use std::sync::Arc;

use super::list::List;
use super::object::Object;

/// WebStone and the Webmonitor paper count in KBytes of 1024 bytes.
const KBYTE: u64 = 1024;

/// A row of table 1 of Almeida, Almeida and Yates, "WebMonitor: a Tool for Measuring World-Wide
/// Web Server Performance" (1997), section 3.2.
struct Kind {
    name: &'static str,
    files: u64,
    total_kbytes: u64,
    share: f64,
}

const TABLE_1: [Kind; 4] = [
    Kind { name: "html", files: 24, total_kbytes: 180, share: 0.192 },
    Kind { name: "image", files: 29, total_kbytes: 385, share: 0.754 },
    Kind { name: "sound", files: 20, total_kbytes: 3580, share: 0.05 },
    Kind { name: "video", files: 4, total_kbytes: 9216, share: 0.004 },
];

/// The mix of the Webmonitor paper.
pub(super) fn webmonitor(seed: u64) -> (Vec<Object>, List) {
    let mut objects = Vec::new();
    let mut shares = Vec::new();
    for kind in &TABLE_1 {
        let group: Arc<str> = kind.name.into();
        for (number, length) in lengths(kind).enumerate() {
            let url = format!("/webstone/{}{:02}.bin", kind.name, number + 1).into();
            objects.push(Object { url, length, group: Arc::clone(&group) });
            shares.push(kind.share / kind.files as f64);
        }
    }
    (objects, List::new(shares, 1, seed))
}

/// The table has totals only. Lengths rise evenly from half the average to one and a half times
/// the average, and sum up to the total exactly.
fn lengths(kind: &Kind) -> impl Iterator<Item = u64> {
    let (files, total) = (kind.files, kind.total_kbytes * KBYTE);
    // With the average as the unit, the first n of N files have n/2 + n(n-1) / 2(N-1) of it.
    let first = move |n: u64| {
        let parts = u128::from(n * (files - 1) + n * n.saturating_sub(1));
        (u128::from(total) * parts / u128::from(2 * (files - 1) * files)) as u64
    };
    (0..files).map(move |n| first(n + 1) - first(n))
}

/// Name, bytes, and weight out of 1000 of each file in WebStone 2.0's standard list.
const STANDARD: [(&str, u64, f64); 5] = [
    ("file500", 500, 350.0),
    ("file5k", 5_125, 500.0),
    ("file50k", 51_250, 140.0),
    ("file500k", 512_500, 9.0),
    ("file5m", 5_248_000, 1.0),
];

/// WebStone 2.0's standard list of files.
pub(super) fn standard(seed: u64) -> (Vec<Object>, List) {
    let objects = STANDARD.map(|(name, length, _)| Object {
        url: format!("/webstone2/{name}.bin").into(),
        length,
        group: name.into(),
    });
    (objects.into(), List::new(STANDARD.map(|(_, _, weight)| weight), 1, seed))
}
