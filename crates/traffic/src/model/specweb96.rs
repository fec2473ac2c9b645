//! SPECweb96: four classes of nine files, in as many directories as the load asks for.

use std::sync::Arc;

use super::list::List;
use super::object::Object;

/// The share of the requests that goes to each class (SPEC, "The Workload for the SPECweb96
/// Benchmark", table 1).
const CLASS_SHARES: [f64; 4] = [0.35, 0.50, 0.14, 0.01];

/// Bytes of the nine files of each class (table 2). The table shows the first, the second and
/// the last of class 0; as those are cut or rounded tenths of 1 KB, so are those between.
const LENGTHS: [[u64; 9]; 4] = [
    [102, 204, 307, 409, 512, 614, 716, 819, 922],
    [1024, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 9216],
    [10_240, 20_480, 30_720, 40_960, 51_200, 61_440, 71_680, 81_920, 92_160],
    [102_400, 204_800, 307_200, 409_600, 512_000, 614_400, 716_800, 819_200, 921_600],
];

/// Within a class SPEC distributes requests as a Poisson distribution centred on the middle.
/// Nine files have their middle at the fifth; beyond the ninth nothing is left over.
const CENTRE: f64 = 5.0;

/// The files for a load of `rate` requests per second, of which there is at least one.
pub(super) fn for_rate(rate: u32, seed: u64) -> (Vec<Object>, List) {
    let directories = directories(rate);
    let groups: [Arc<str>; 4] = ["class0", "class1", "class2", "class3"].map(Arc::from);
    let mut objects = Vec::with_capacity(directories as usize * 36);
    for directory in 0..directories {
        for (class, lengths) in LENGTHS.iter().enumerate() {
            for (number, length) in (1..).zip(lengths) {
                objects.push(Object {
                    url: format!("/specweb96/dir{directory:05}/class{class}_{number}").into(),
                    length: *length,
                    group: Arc::clone(&groups[class]),
                });
            }
        }
    }
    let within = within_class();
    let weights = CLASS_SHARES.iter().flat_map(|share| within.iter().map(move |part| share * part));
    (objects, List::new(weights, directories, seed))
}

/// SPEC's rule: four times the load, twice the files.
fn directories(rate: u32) -> u32 {
    ((f64::from(rate) / 5.0).sqrt() * 10.0).round().max(1.0) as u32
}

/// The share of each of the nine files in the requests for its class.
fn within_class() -> [f64; 9] {
    let mut weight = 1.0;
    let weights: [f64; 9] = std::array::from_fn(|below| {
        weight *= CENTRE / (below + 1) as f64;
        weight
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}
