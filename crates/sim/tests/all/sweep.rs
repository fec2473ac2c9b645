//! A sweep has the same points whichever process computes them, however often they are interrupted.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::num::NonZeroUsize;
use std::path::Path;

use config::Source;
use record::sweep::SweepDirectory;
use sim::sweep::{Options, Progress, Spec, imprecise, run};

const SPEC: &str = "
[sweep]
title = 'small'
x = 'cv'
[model]
threads = 5
[plan]
requests = 500
warmup = 20
replications = 9
precision = 0.2
[grid]
cv = [1, 2, 3]
queue = [0, 5]
";

fn spec(text: &str) -> Spec {
    Spec::parse(&Source::new("small.toml", text), Path::new("."), false).unwrap()
}

fn sweep(directory: &Path, shard: Option<&str>, cores: usize) -> Progress {
    let options =
        Options { shard: shard.map(|shard| shard.parse().unwrap()), cores: NonZeroUsize::new(cores) };
    run(&[(spec(SPEC), directory.to_owned())], options, &|_| {}).unwrap()
}

fn table(directory: &Path) -> Vec<u8> {
    std::fs::read(directory.join("points.parquet")).unwrap()
}

#[test]
fn shards_and_interruptions_change_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let [whole, shards, resumed] = ["whole", "shards", "resumed"].map(|name| scratch.path().join(name));
    assert_eq!(sweep(&whole, None, 1), Progress { done: 6, ..Progress::default() });
    let rows = SweepDirectory::open(&whole).unwrap().points().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.latency > 0.0 && row.rejected_low <= row.rejected));

    for (shard, elsewhere) in [("2/2", 3), ("1/2", 0)] {
        let progress = sweep(&shards, Some(shard), 2);
        assert_eq!((progress.done, progress.elsewhere), (3, elsewhere));
        assert_eq!(shards.join("points.parquet").exists(), elsewhere == 0);
    }
    assert_eq!(table(&shards), table(&whole));

    sweep(&resumed, None, 3);
    for lost in ["points.parquet", "points/000001.parquet", "points/000004.parquet"] {
        std::fs::remove_file(resumed.join(lost)).unwrap();
    }
    std::fs::write(resumed.join("points/000001.parquet.1.new"), "half").unwrap();
    assert_eq!(sweep(&resumed, None, 4), Progress { before: 4, done: 2, ..Progress::default() });
    assert_eq!(table(&resumed), table(&whole));
}

#[test]
fn another_sweep_in_the_directory_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    sweep(scratch.path(), None, 2);
    let other = spec(&SPEC.replace("threads = 5", "threads = 6"));
    let error = run(&[(other, scratch.path().to_owned())], Options::default(), &|_| {}).unwrap_err();
    assert!(error.is_usage());
    let text = error.to_string();
    assert!(text.contains("holds another sweep: its point 0") && text.contains("6 threads"), "{text}");
    let same = spec(&SPEC.replace("title = 'small'", "title = 'other words' # and a comment"));
    run(&[(same, scratch.path().to_owned())], Options::default(), &|_| {}).unwrap();
}

#[test]
fn a_damaged_point_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    sweep(scratch.path(), None, 2);
    let point = scratch.path().join("points/000002.parquet");
    std::fs::write(&point, "half of it").unwrap();
    let error = run(&[(spec(SPEC), scratch.path().to_owned())], Options::default(), &|_| {}).unwrap_err();
    let text = error.to_string();
    assert!(
        error.is_usage() && text.contains("000002.parquet is damaged") && text.contains("remove it"),
        "{text}"
    );
    std::fs::remove_file(point).unwrap();
    assert_eq!(sweep(scratch.path(), None, 2).done, 1);
}

#[test]
fn points_that_are_not_precise_enough_are_counted() {
    let scratch = tempfile::tempdir().unwrap();
    let wish = |precision: &str, directory: &str| {
        let text = SPEC.replace("precision = 0.2", &format!("precision = {precision}"));
        let directory = scratch.path().join(directory);
        run(&[(spec(&text), directory.clone())], Options::default(), &|_| {}).unwrap();
        imprecise(&directory).unwrap()
    };
    assert_eq!((wish("0.0001", "too-much"), wish("0", "nothing")), (6, 0));
}

#[test]
fn shards_are_checked() {
    for wrong in ["0/2", "3/2", "1", "a/b", "1/0"] {
        assert!(wrong.parse::<sim::sweep::Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn the_papers_specs_are_whole() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/heavy-loads");
    let mut figures = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let source = Source::read(&entry.unwrap().path()).unwrap();
        for quick in [false, true] {
            Spec::parse(&source, Path::new("."), quick).unwrap();
        }
        let line = source.text().lines().find(|line| line.starts_with("figures")).unwrap_or("");
        figures.extend(line.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()));
    }
    figures.sort_unstable();
    assert_eq!(figures, (1..=15).collect::<Vec<_>>());
}
