//! What Rust code may not contain, beyond what clippy knows.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta};

use super::complaint::Complaint;
use super::workspace::{Package, Source, Workspace};
use crate::rules::Rules;

pub(super) fn check(workspace: &Workspace, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for package in &workspace.packages {
        if package.sources.iter().filter(|source| source.shipped).all(is_empty) {
            complaints.push(Complaint::of_file(
                &package.manifest,
                format!("{} is empty; a crate appears when its code does", package.name),
            ));
        }
        for source in &package.sources {
            if !rules.unsafe_in.contains(&package.name.as_str()) {
                no_unsafe(package, source, complaints);
            }
            Ignored { path: &source.path, complaints }.visit_file(&source.syntax);
        }
    }
}

/// Whether a file declares nothing: modules and imports lead elsewhere, an empty `main` does nothing.
fn is_empty(source: &Source) -> bool {
    source.syntax.items.iter().all(|item| match item {
        Item::Mod(module) => module.content.as_ref().is_none_or(|(_, items)| items.is_empty()),
        Item::Use(_) | Item::ExternCrate(_) => true,
        Item::Fn(function) => function.sig.ident == "main" && function.block.stmts.is_empty(),
        _ => false,
    })
}

fn no_unsafe(package: &Package, source: &Source, complaints: &mut Vec<Complaint>) {
    let mut lines = Vec::new();
    unsafe_lines(source.tokens.clone(), &mut lines);
    complaints.extend(lines.into_iter().map(|line| {
        let what = format!("unsafe code in {}; find a safe interface to it", package.name);
        Complaint::at(&source.path, line, what)
    }));
}

fn unsafe_lines(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) if name == "unsafe" => lines.push(name.span().start().line),
            TokenTree::Group(group) => unsafe_lines(group.stream(), lines),
            _ => {}
        }
    }
}

/// Finds `#[ignore]` without a reason.
struct Ignored<'a> {
    path: &'a str,
    complaints: &'a mut Vec<Complaint>,
}

impl<'ast> Visit<'ast> for Ignored<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::Path(path) = &attribute.meta
            && let Some(name) = path.get_ident()
            && name == "ignore"
        {
            let what = "a test is ignored without a reason; write #[ignore = \"why\"]";
            self.complaints.push(Complaint::at(self.path, name.span().start().line, what));
        }
        visit::visit_attribute(self, attribute);
    }
}
