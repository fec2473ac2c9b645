//! The models of the literature against what was published of them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod content;
mod goodness;
mod lists;
mod surge;

use traffic::model::{Model, Visit};

const NAMES: [&str; 6] = ["surge", "surge1998", "webstone", "webstone2", "specweb96", "specweb96:20"];

fn named(name: &str, seed: u64) -> Model {
    Model::named(name.parse().unwrap(), seed)
}

fn requests(name: &str, seed: u64, count: usize) -> Vec<u32> {
    let mut model = named(name, seed);
    (0..count).map(|_| model.request()).collect()
}

fn visits(name: &str, seed: u64, count: usize) -> Vec<Visit> {
    let mut model = named(name, seed);
    let mut visit = Visit::default();
    let visits = (0..count).map(|_| {
        model.visit(&mut visit);
        visit.clone()
    });
    visits.collect()
}

#[test]
fn the_seed_alone_decides_the_requests() {
    for name in NAMES {
        assert!(requests(name, 7, 5_000) == requests(name, 7, 5_000), "{name}");
        assert_ne!(requests(name, 7, 5_000), requests(name, 8, 5_000), "{name}");
        assert_eq!(visits(name, 7, 1_000), visits(name, 7, 1_000), "{name}");
        assert_ne!(visits(name, 7, 1_000), visits(name, 8, 1_000), "{name}");
    }
}

#[test]
fn the_seed_does_not_touch_the_files() {
    for name in NAMES {
        assert_eq!(named(name, 7).objects(), named(name, 8).objects(), "{name}");
    }
}

/// Records name workload and seed, and are compared with records of other versions.
#[test]
fn seeds_mean_the_same_in_every_version() {
    let digest = |name: &str| {
        let requests = requests(name, 1, 10_000).into_iter();
        requests.fold(0_u64, |digest, file| digest.wrapping_mul(1_000_003).wrapping_add(u64::from(file)))
    };
    let digests = [
        6_866_234_311_192_360_473,
        8_180_230_170_543_713_857,
        12_928_485_364_780_063_002,
        5_906_814_479_188_460_387,
        10_346_800_823_184_109_957,
        7_472_961_780_979_171_297,
    ];
    assert_eq!(NAMES.map(digest), digests);
}

#[test]
fn objects_have_urls_of_their_own_below_the_folder_of_the_model() {
    for name in NAMES {
        let model = named(name, 1);
        let folder = format!("/{}/", name.split(':').next().unwrap());
        let mut urls: Vec<&str> = model.objects().iter().map(|object| &*object.url).collect();
        assert!(urls.iter().all(|url| url.starts_with(&folder) && !url.contains("..")), "{name}");
        urls.sort_unstable();
        urls.dedup();
        assert_eq!(urls.len(), model.objects().len(), "{name}");
        let total: u64 = model.objects().iter().map(|object| object.length).sum();
        assert_eq!(model.total_bytes(), total);
        let files = model.objects().len() as u32;
        assert!(requests(name, 1, 100_000).into_iter().all(|object| object < files));
    }
}
