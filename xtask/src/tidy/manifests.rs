//! What a manifest may say: its crate's name, and which external crates belong to it.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};

use super::complaint::Complaint;
use super::workspace::{Package, Workspace};
use crate::rules::Rules;

pub(super) fn check(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for package in &workspace.packages {
        let mut complain = |what: String| complaints.push(Complaint::of_file(&package.manifest, what));
        if package.folder != package.name {
            complain(format!("{} is in the folder {}; both have one name", package.name, package.folder));
        }
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.dev) {
            let owners = rules.owners.iter().find(|(name, _)| *name == dependency.name);
            if let Some((name, owners)) =
                owners.filter(|(_, owners)| !owners.contains(&package.name.as_str()))
            {
                complain(format!(
                    "{name} belongs to {}; ask them for what {} needs",
                    owners.join(", "),
                    package.name
                ));
            }
        }
        let named = names(package);
        for dependency in package.dependencies.iter().filter(|it| !named.contains(&it.used_as)) {
            complain(format!("no source names {}; delete the dependency", dependency.name));
        }
    }
}

/// Every identifier in the crate's sources: those of macros and attributes count, comments do not.
fn names(package: &Package) -> HashSet<String> {
    let mut found = HashSet::new();
    for source in &package.sources {
        collect(source.tokens.clone(), &mut found);
    }
    found
}

fn collect(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                found.insert(name.to_string());
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
