//! [`Profile`]: samples, and what they are of.

use std::collections::BTreeMap;

use procfs::process::{MMPermissions, MMapPath, Process};

use super::activity::Activity;
use super::functions::Functions;
use super::samples::Samples;
use super::spent::{FREQUENCY, Spent};

/// Samples, and what is known of the programs that they are of.
pub(crate) struct Profile {
    samples: Samples,
    /// Of each process, where what is mapped.
    places: BTreeMap<i32, Vec<Place>>,
    /// By file.
    functions: BTreeMap<String, Functions>,
    spent: BTreeMap<usize, Spent>,
}

/// A part of a file in the memory of a process.
struct Place {
    from: u64,
    to: u64,
    /// Of its beginning, in the file.
    offset: u64,
    file: String,
}

impl Profile {
    /// Begins to sample; nothing where the kernel does not let this user, or has nothing to sample by.
    pub(crate) fn open() -> Option<Self> {
        let samples = Samples::open(FREQUENCY).ok()?;
        Some(Self { samples, places: BTreeMap::new(), functions: BTreeMap::new(), spent: BTreeMap::new() })
    }

    /// What was sampled of each program up to now, by its place; `of` says whose a process is.
    pub(crate) fn look(&mut self, of: impl Fn(i32) -> Option<usize>) -> BTreeMap<usize, Spent> {
        let mut taken = Vec::new();
        self.samples.take(|process, address| taken.extend(of(process).map(|at| (at, process, address))));
        // What has ended has no more places; a number that is given again is looked at anew.
        self.places.retain(|process, _| taken.iter().any(|(_, sampled, _)| sampled == process));
        for (at, process, address) in taken {
            let activity = self.activity(process, address);
            let spent = self.spent.entry(at).or_default();
            match activity {
                Some(Activity::Collecting) => spent.collecting += 1,
                Some(Activity::Handshaking) => spent.handshaking += 1,
                Some(Activity::Encrypting) => spent.encrypting += 1,
                None => {}
            }
        }
        self.spent.clone()
    }

    fn activity(&mut self, process: i32, address: u64) -> Option<Activity> {
        let places = self.places.entry(process).or_insert_with(|| places(process));
        let place = places.iter().find(|place| (place.from..place.to).contains(&address))?;
        let functions =
            self.functions.entry(place.file.clone()).or_insert_with(|| Functions::read(process, &place.file));
        functions.at(address - place.from + place.offset)
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
            file: file.display().to_string(),
        })
    });
    of_file.collect()
}
