//! A table that there is no room for. A limit to the size of files stands in for a full disk, as it can
//! be put anywhere.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::PathBuf;
use std::sync::Arc;

use catalogue::watch::kernel::CPU_IDLE;
use record::{Error, RunDirectory, SampleRow};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::Time;

const ROWS: usize = 20_000;
const ROWS_PER_GROUP: usize = 8192;

/// Wherever the disk ends, in a group or in the directory of them, what is there can be read.
#[test]
fn what_fits_can_be_read() {
    // Otherwise a write beyond the limit ends the process.
    let ignored = Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, ignored).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(scratch.path().join("whole")).unwrap();
    write(&directory, None).unwrap();
    let whole = table(&directory).metadata().unwrap().len();
    let near = (1..24).rev().map(|step| whole - step * 32);
    let mut least = 0;
    for size in (0..24).map(|step| whole * step / 24).chain(near) {
        let directory = RunDirectory::create(scratch.path().join(size.to_string())).unwrap();
        let why = write(&directory, Some(size)).unwrap_err();
        assert!(why.to_string().starts_with("cannot write "), "{size}: {why}");
        if !table(&directory).exists() {
            assert!(size < 4096 && least == 0, "{size}: not even a table without rows");
            continue;
        }
        let rows = directory.samples().unwrap();
        let read = rows.map(Result::unwrap).zip(0..).map(|(row, at)| assert_eq!(row, sample(at))).count();
        // What does not fit may be as little as the statistics in the directory.
        assert!(read.is_multiple_of(ROWS_PER_GROUP) || read == ROWS, "{size}: whole groups: {read}");
        assert!(read >= least, "{size}: {read} rows, and {least} on a smaller disk");
        least = read;
    }
    assert!(least >= 2 * ROWS_PER_GROUP, "{least}");
}

fn table(directory: &RunDirectory) -> PathBuf {
    directory.path().join("samples.parquet")
}

fn write(directory: &RunDirectory, most: Option<u64>) -> Result<(), Error> {
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: most.or(before.current), ..before }).unwrap();
    let written = fill(directory);
    setrlimit(Resource::Fsize, before).unwrap();
    written
}

fn fill(directory: &RunDirectory) -> Result<(), Error> {
    let mut table = directory.write_samples()?;
    for at in 0..ROWS {
        table.push(sample(at))?;
    }
    table.finish()
}

fn sample(at: usize) -> SampleRow {
    let time = Time::from_nanos(at as u64);
    SampleRow::of(CPU_IDLE, Arc::from(""), time, Arc::from("here"), at as f64)
}
