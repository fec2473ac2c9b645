//! WebStone and SPECweb96 against the tables that were published.

use std::collections::BTreeMap;

use crate::goodness::assert_shared_out;
use crate::{named, requests, visits};

const DRAWS: usize = 300_000;

/// How many requests each object got.
fn counts(name: &str) -> Vec<u64> {
    let mut counts = vec![0; named(name, 1).objects().len()];
    for object in requests(name, 1, DRAWS) {
        counts[object as usize] += 1;
    }
    counts
}

/// Files, bytes and requests of each group.
fn groups(name: &str) -> BTreeMap<String, (u64, u64, u64)> {
    let mut groups: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for (object, count) in named(name, 1).objects().iter().zip(counts(name)) {
        let group = groups.entry(object.group.to_string()).or_default();
        *group = (group.0 + 1, group.1 + object.length, group.2 + count);
    }
    groups
}

#[test]
fn webstone_is_table_1_of_the_webmonitor_paper() {
    let groups = groups("webstone");
    let table = [
        ("html", 24, 180, 0.192),
        ("image", 29, 385, 0.754),
        ("sound", 20, 3580, 0.05),
        ("video", 4, 9216, 0.004),
    ];
    for (name, files, kbytes, _) in table {
        assert_eq!((groups[name].0, groups[name].1), (files, kbytes * 1024), "{name}");
    }
    assert_shared_out(&table.map(|row| groups[row.0].2), &table.map(|row| row.3));
    let of_each = table.iter().flat_map(|(_, files, _, share)| vec![share / *files as f64; *files as usize]);
    assert_shared_out(&counts("webstone"), &of_each.collect::<Vec<f64>>());
}

#[test]
fn webstone_lengths_are_spread_about_the_average() {
    let model = named("webstone", 1);
    for (name, average) in [("html", 7680), ("image", 13594), ("sound", 183_296), ("video", 2_359_296)] {
        let lengths: Vec<u64> = model
            .objects()
            .iter()
            .filter(|object| &*object.group == name)
            .map(|object| object.length)
            .collect();
        assert!(lengths.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {lengths:?}");
        assert!(lengths[0].abs_diff(average / 2) <= 1, "{name}: {lengths:?}");
        assert!(lengths[lengths.len() - 1].abs_diff(average * 3 / 2) <= 2, "{name}: {lengths:?}");
    }
}

#[test]
fn webstone2_is_the_standard_list() {
    let lengths: Vec<u64> = named("webstone2", 1).objects().iter().map(|object| object.length).collect();
    assert_eq!(lengths, [500, 5_125, 51_250, 512_500, 5_248_000]);
    assert_shared_out(&counts("webstone2"), &[0.35, 0.5, 0.14, 0.009, 0.001]);
}

#[test]
fn specweb96_classes_have_the_shares_and_lengths_of_spec() {
    let groups = groups("specweb96");
    let shares = ["class0", "class1", "class2", "class3"].map(|class| groups[class].2);
    assert_shared_out(&shares, &[0.35, 0.50, 0.14, 0.01]);
    let model = named("specweb96", 1);
    for (class, least, most) in [
        ("class0", 0, 1024),
        ("class1", 1024, 10_240),
        ("class2", 10_240, 102_400),
        ("class3", 102_400, 1 << 20),
    ] {
        let objects = model.objects().iter().filter(|object| &*object.group == class);
        assert!(objects.clone().all(|object| (least..most).contains(&object.length)), "{class}");
        assert_eq!(objects.count(), 45 * 9);
    }
}

#[test]
fn specweb96_files_of_a_class_are_a_poisson_distribution() {
    let poisson: Vec<f64> =
        (1..=9_u32).map(|k| 5_f64.powi(k as i32) / (1..=k).map(f64::from).product::<f64>()).collect();
    let sum: f64 = poisson.iter().sum();
    let expected: Vec<f64> = poisson.iter().map(|weight| weight / sum).collect();
    let mut files = [[0; 9]; 4];
    for (object, count) in counts("specweb96").into_iter().enumerate() {
        files[object % 36 / 9][object % 9] += count;
    }
    for counts in files {
        assert_shared_out(&counts, &expected);
    }
}

#[test]
fn specweb96_directories_grow_with_the_root_of_the_load() {
    for (rate, directories) in [(1, 4), (5, 10), (20, 20), (100, 45), (500, 100), (2000, 200)] {
        assert_eq!(named(&format!("specweb96:{rate}"), 1).objects().len(), directories * 36, "{rate}/s");
    }
    let mut of_directory = [0; 45];
    for (object, count) in counts("specweb96").into_iter().enumerate() {
        of_directory[object / 36] += count;
    }
    assert_shared_out(&of_directory, &[1.0 / 45.0; 45]);
}

#[test]
fn lists_have_no_pages_and_no_pauses() {
    for name in ["webstone", "webstone2", "specweb96"] {
        let visits = visits(name, 1, 1000);
        assert!(visits.iter().all(|visit| visit.embedded.is_empty() && visit.think.is_zero()));
        let pages: Vec<u32> = visits.iter().map(|visit| visit.page).collect();
        assert_eq!(pages, requests(name, 1, 1000));
    }
}
