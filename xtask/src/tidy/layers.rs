//! What a crate looks like inside: no circles of files, rooms that import downwards only, and no types
//! where modules are only declared.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use super::complaint::Complaint;
use super::modules::{Modules, shown};
use super::workspace::{Package, Workspace};
use crate::rooms::room::Room;
use crate::rules::Rules;

/// Where the rooms of a crate are declared.
const TABLE: &str = "xtask/src/rooms.rs";

/// A crate with this many folders needs rooms that are declared.
const FOLDERS_WITH_ROOMS: usize = 2;

pub(super) fn check(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for package in &workspace.packages {
        types_in_declarations(package, complaints);
        let modules = Modules::of(package);
        circles(&modules, complaints);
        match rules.rooms.iter().find(|(name, _)| *name == package.name) {
            Some((_, rooms)) => layers(package, &modules, rooms, complaints),
            None if folders(&modules).len() >= FOLDERS_WITH_ROOMS => {
                complaints.push(Complaint::of_file(
                    &package.manifest,
                    format!(
                        "nothing says which rooms {0} has and which may import which; add it to {TABLE} \
                         (cargo xtask rooms {0} prints what there is)",
                        package.name
                    ),
                ));
            }
            None => {}
        }
    }
    for (name, _) in rules.rooms {
        if !workspace.names().contains(name) {
            complaints
                .push(Complaint::of_file(TABLE, format!("there is no crate {name}; take its rooms out")));
        }
    }
}

/// The rooms of a crate from low to high, each with those that it imports from; what is in a circle comes last.
pub(super) fn rooms_of(package: &Package) -> Vec<(String, Vec<String>)> {
    let modules = Modules::of(package);
    let mut open = imports_of_rooms(&modules);
    let mut ordered: Vec<(String, Vec<String>)> = Vec::new();
    while !open.is_empty() {
        let placed = |room: &String| ordered.iter().any(|(placed, _)| placed == room);
        let next = open.iter().find(|(_, imports)| imports.keys().all(placed)).or_else(|| open.iter().next());
        let Some(room) = next.map(|(room, _)| room.clone()) else { break };
        let imports = open.remove(&room).unwrap_or_default();
        ordered.push((room, imports.into_keys().collect()));
    }
    ordered
}

fn types_in_declarations(package: &Package, complaints: &mut Vec<Complaint>) {
    for source in package.sources.iter().filter(|source| source.shipped) {
        let declares = ["/mod.rs", "/lib.rs"].iter().any(|name| source.path.ends_with(name));
        if !declares || source.path.contains("/tests/") {
            continue;
        }
        for item in &source.syntax.items {
            let (kind, name) = match item {
                Item::Struct(item) => ("struct", &item.ident),
                Item::Enum(item) => ("enum", &item.ident),
                Item::Union(item) => ("union", &item.ident),
                Item::Trait(item) => ("trait", &item.ident),
                Item::Type(item) => ("type", &item.ident),
                _ => continue,
            };
            let what = format!(
                "{kind} {name} is defined where modules are declared; give it a file that is named after it"
            );
            complaints.push(Complaint::at(&source.path, name.span().start().line, what));
        }
    }
}

fn circles(modules: &Modules, complaints: &mut Vec<Complaint>) {
    for circle in modules.circles() {
        let mut ties = Vec::new();
        for from in &circle {
            for (to, names) in &modules.imports[*from] {
                if circle.contains(&to) {
                    let names: Vec<_> = names.iter().map(String::as_str).collect();
                    ties.push(format!("{} imports {} from {}", shown(from), names.join(", "), shown(to)));
                }
            }
        }
        let what = format!("a circle of {} files: {}", circle.len(), ties.join("; "));
        complaints.push(Complaint::of_file(&modules.files[circle[0]], what));
    }
}

fn layers(package: &Package, modules: &Modules, rooms: &[Room], complaints: &mut Vec<Complaint>) {
    let name = &package.name;
    let found = imports_of_rooms(modules);
    let mut complain = |what: String| complaints.push(Complaint::of_file(TABLE, what));
    for room in found.keys().filter(|room| !rooms.iter().any(|(known, _)| known == room)) {
        complain(format!("{name} has a room {room}; say what it may import"));
    }
    for (index, (room, allowed)) in rooms.iter().enumerate() {
        let Some(imports) = found.get(*room) else {
            complain(format!("{name} has no room {room}; take it out"));
            continue;
        };
        for to in *allowed {
            if !rooms[..index].iter().any(|(lower, _)| lower == to) {
                complain(format!("{name}: {to} is not below {room}; a room imports from lower ones only"));
            }
            if !imports.contains_key(*to) {
                complain(format!("{name}: {room} may import from {to} and does not; take it out"));
            }
        }
    }
    for (room, imports) in &found {
        let Some((_, allowed)) = rooms.iter().find(|(known, _)| known == room) else { continue };
        for (to, files) in imports.iter().filter(|(to, _)| !allowed.contains(&to.as_str())) {
            for file in files {
                complaints.push(Complaint::of_file(
                    file.as_str(),
                    format!(
                        "{room} must not import from {to}; move what it needs below both, or change {TABLE}"
                    ),
                ));
            }
        }
    }
}

/// For each room those that it imports from, with the files that do. The crate's root is above all rooms.
fn imports_of_rooms(modules: &Modules) -> BTreeMap<String, BTreeMap<String, BTreeSet<&String>>> {
    let mut rooms: BTreeMap<String, BTreeMap<String, BTreeSet<&String>>> = BTreeMap::new();
    for (module, file) in &modules.files {
        let Some(room) = module.first() else { continue };
        let imports = rooms.entry(room.clone()).or_default();
        for target in modules.imports[module].keys().filter_map(|target| target.first()) {
            if target != room {
                imports.entry(target.clone()).or_default().insert(file);
            }
        }
    }
    rooms
}

fn folders(modules: &Modules) -> BTreeSet<&String> {
    modules.files.keys().filter(|module| module.len() > 1).filter_map(|module| module.first()).collect()
}
