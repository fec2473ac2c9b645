//! [`Profile`]: samples, and what they are of.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use procfs::process::{MMPermissions, MMapPath, Process};

use super::activity::Activity;
use super::functions::Functions;
use super::samples::Samples;
use super::spent::{FREQUENCY, Spent};

/// Samples, and what is known of the programs that they are of.
pub(crate) struct Profile {
    samples: Samples,
    /// Of each process, where what is mapped, and when that was looked at.
    places: BTreeMap<i32, (Instant, Vec<Place>)>,
    /// By device and number of the file; nothing while it is read.
    functions: BTreeMap<FileId, Option<Functions>>,
    /// Files are read aside: of a large one that takes a second, and nothing else is to wait for it.
    reads: Sender<(FileId, Functions)>,
    read: Receiver<(FileId, Functions)>,
    spent: BTreeMap<usize, Spent>,
}

/// The two numbers of a device, and that of a file on it.
type FileId = (i32, i32, u64);

/// A part of a file in the memory of a process.
struct Place {
    from: u64,
    to: u64,
    /// Of its beginning, in the file.
    offset: u64,
    file: FileId,
    path: String,
}

/// A process may load more, or become another program.
const FOR: Duration = Duration::from_secs(10);

impl Profile {
    /// Begins to sample; nothing where the kernel does not let this user, or has nothing to sample by.
    pub(crate) fn open() -> Option<Self> {
        let samples = Samples::open(FREQUENCY).ok()?;
        let (reads, read) = mpsc::channel();
        let (places, functions, spent) = Default::default();
        Some(Self { samples, places, functions, reads, read, spent })
    }

    /// What was sampled of each program up to now, by its place; `of` says whose a process is. Nothing where it is not all
    /// that there was since the last look.
    pub(crate) fn look(&mut self, of: impl Fn(i32) -> Option<usize>) -> Option<BTreeMap<usize, Spent>> {
        let mut taken = Vec::new();
        let are_all =
            self.samples.take(|process, address| taken.extend(of(process).map(|at| (at, process, address))));
        self.places.retain(|_, (looked, _)| looked.elapsed() < FOR);
        self.functions.extend(self.read.try_iter().map(|(file, functions)| (file, Some(functions))));
        for (at, process, address) in taken {
            let activity = self.activity(process, address);
            let spent = self.spent.entry(at).or_default();
            spent.all += 1;
            match activity {
                Some(Activity::Collecting) => spent.collecting += 1,
                Some(Activity::Handshaking) => spent.handshaking += 1,
                Some(Activity::Encrypting) => spent.encrypting += 1,
                None => {}
            }
        }
        are_all.then(|| self.spent.clone())
    }

    fn activity(&mut self, process: i32, address: u64) -> Option<Activity> {
        let (_, places) = self.places.entry(process).or_insert_with(|| (Instant::now(), places(process)));
        let place = places.iter().find(|place| (place.from..place.to).contains(&address))?;
        let functions = self.functions.entry(place.file).or_insert_with(|| {
            let (reads, file, path) = (self.reads.clone(), place.file, place.path.clone());
            std::thread::spawn(move || {
                // Whatever else there is to do goes first.
                let _ = rustix::process::nice(19);
                // Who has asked may have ended.
                let _ = reads.send((file, Functions::read(process, &path)));
            });
            None
        });
        functions.as_ref()?.at(address - place.from + place.offset)
    }
}

/// Those that can be executed.
fn places(process: i32) -> Vec<Place> {
    let Ok(maps) = Process::new(process).and_then(|process| process.maps()) else { return Vec::new() };
    let of_file = maps.into_iter().filter_map(|map| {
        let MMapPath::Path(file) = map.pathname else { return None };
        let is_code = map.perms.contains(MMPermissions::EXECUTE);
        is_code.then(|| Place {
            from: map.address.0,
            to: map.address.1,
            offset: map.offset,
            file: (map.dev.0, map.dev.1, map.inode),
            path: file.display().to_string(),
        })
    });
    of_file.collect()
}
