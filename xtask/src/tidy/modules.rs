//! The modules of a crate, and which of them imports which.
//!
//! A module is a file. What `use` and paths in code name is followed through re-exports to the module
//! that defines it; a re-export does not count as an import. Modules for tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, Meta, UseTree, Visibility};

use super::workspace::{Package, Source};

/// The path of a module inside its crate: empty for the root.
pub(super) type ModulePath = Vec<String>;

/// How far a name is followed through re-exports of re-exports.
const MAX_REEXPORTS: usize = 6;

/// The modules of a crate with their imports.
#[derive(Default)]
pub(super) struct Modules {
    /// The file of each module, relative to the workspace.
    pub(super) files: BTreeMap<ModulePath, String>,
    /// For each module those that it imports from, with the names that it takes.
    pub(super) imports: BTreeMap<ModulePath, BTreeMap<ModulePath, BTreeSet<String>>>,
}

/// A path that a module names, from the crate's root.
struct Named {
    path: Vec<String>,
    reexported: bool,
}

impl Modules {
    /// Reads the modules of what a package ships.
    pub(super) fn of(package: &Package) -> Self {
        let sources = shipped(package);
        let known: BTreeSet<ModulePath> = sources.keys().cloned().collect();
        let mut named = BTreeMap::new();
        for (module, source) in &sources {
            let mut paths = Paths { module, inline: Vec::new(), known: &known, found: Vec::new() };
            paths.visit_file(&source.syntax);
            named.insert(module.clone(), paths.found);
        }
        let mut modules = Self::default();
        for (module, source) in sources {
            let mut imports: BTreeMap<ModulePath, BTreeSet<String>> = BTreeMap::new();
            for Named { path, .. } in named[&module].iter().filter(|named| !named.reexported) {
                let (target, name) = resolve(path, &named, 0);
                let is_child =
                    name.is_none() && target.len() == module.len() + 1 && target.starts_with(&module);
                if target != module && !is_child {
                    imports
                        .entry(target)
                        .or_default()
                        .insert(name.unwrap_or_else(|| "the module".to_owned()));
                }
            }
            modules.files.insert(module.clone(), source.path.clone());
            modules.imports.insert(module, imports);
        }
        modules
    }

    /// The groups of modules that import each other, directly or through others of the group.
    pub(super) fn circles(&self) -> Vec<Vec<&ModulePath>> {
        let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            self.files.keys().map(|module| (module, self.reached_from(module))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for (module, reaches) in &reached {
            if seen.contains(module) || !reaches.contains(module) {
                continue;
            }
            let circle: Vec<_> =
                reaches.iter().copied().filter(|other| reached[other].contains(module)).collect();
            seen.extend(circle.iter().copied());
            circles.push(circle);
        }
        circles
    }

    fn reached_from<'a>(&'a self, module: &'a ModulePath) -> BTreeSet<&'a ModulePath> {
        let mut reached = BTreeSet::new();
        let mut open = vec![module];
        while let Some(next) = open.pop() {
            let imports = self.imports.get(next).into_iter().flatten();
            open.extend(imports.map(|(target, _)| target).filter(|target| reached.insert(*target)));
        }
        reached
    }
}

/// The name of a module as complaints show it.
pub(super) fn shown(module: &[String]) -> String {
    if module.is_empty() { "the crate's root".to_owned() } else { module.join("::") }
}

/// The files below `src` by their modules, without those that are declared for tests.
fn shipped(package: &Package) -> BTreeMap<ModulePath, &Source> {
    let mut modules: BTreeMap<ModulePath, &Source> = BTreeMap::new();
    for source in package.sources.iter().filter(|source| source.shipped) {
        let Some(module) = module_of(&source.path) else { continue };
        // With a library beside it, the binary is a crate of its own.
        if module.is_empty() && source.path.ends_with("/main.rs") && modules.contains_key(&module) {
            continue;
        }
        modules.insert(module, source);
    }
    let mut for_tests = Vec::new();
    for (module, source) in &modules {
        for item in &source.syntax.items {
            if let Item::Mod(ItemMod { attrs, ident, content: None, .. }) = item
                && is_for_tests(attrs)
            {
                for_tests.push([module.as_slice(), &[ident.to_string()]].concat());
            }
        }
    }
    modules.retain(|module, _| !for_tests.iter().any(|test| module.starts_with(test)));
    modules
}

fn module_of(path: &str) -> Option<ModulePath> {
    let (_, inside) = path.rsplit_once("/src/").or_else(|| path.split_once("src/"))?;
    let mut parts: ModulePath = inside.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if parts
        .last()
        .is_some_and(|last| last == "mod" || (parts.len() == 1 && (last == "lib" || last == "main")))
    {
        parts.pop();
    }
    Some(parts)
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

/// The module that a path leads to, and the name that is taken from it; none for the module itself.
fn resolve(
    path: &[String],
    named: &BTreeMap<ModulePath, Vec<Named>>,
    depth: usize,
) -> (ModulePath, Option<String>) {
    let length = (0..=path.len()).rev().find(|length| named.contains_key(&path[..*length])).unwrap_or(0);
    let (module, rest) = path.split_at(length);
    let Some(name) = rest.first() else { return (module.to_vec(), None) };
    let reexport = named
        .get(module)
        .into_iter()
        .flatten()
        .find(|other| other.reexported && other.path.last() == Some(name) && other.path != path);
    match reexport {
        Some(other) if depth < MAX_REEXPORTS => resolve(&other.path, named, depth + 1),
        _ => (module.to_vec(), Some(name.clone())),
    }
}

/// Gathers the paths that a file names.
struct Paths<'a> {
    module: &'a [String],
    /// The modules with a body of their own that surround what is looked at.
    inline: Vec<String>,
    known: &'a BTreeSet<ModulePath>,
    found: Vec<Named>,
}

impl Paths<'_> {
    fn here(&self) -> Vec<String> {
        [self.module, &self.inline].concat()
    }

    /// Notes a path of this crate; paths of other crates and of local names are passed over.
    fn note(&mut self, segments: &[String], reexported: bool) {
        let mut base = self.here();
        let mut rest = segments;
        match rest.first().map(String::as_str) {
            Some("crate") => (base, rest) = (Vec::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            Some(first) if self.known.contains(&[base.as_slice(), &[first.to_owned()]].concat()) => {}
            _ => return,
        }
        base.extend(rest.iter().cloned());
        self.found.push(Named { path: base, reexported });
    }

    fn tree(&mut self, before: &[String], tree: &UseTree, reexported: bool) {
        match tree {
            UseTree::Path(path) => {
                self.tree(&[before, &[path.ident.to_string()]].concat(), &path.tree, reexported);
            }
            UseTree::Name(name) if name.ident == "self" => self.note(before, reexported),
            UseTree::Name(name) => self.note(&[before, &[name.ident.to_string()]].concat(), reexported),
            UseTree::Rename(name) => self.note(&[before, &[name.ident.to_string()]].concat(), reexported),
            UseTree::Glob(_) => self.note(before, reexported),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree, reexported)),
        }
    }

    /// What stands in a macro is not parsed: paths in it are `name::name` in a row.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut segments: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 => segments.push(name.to_string()),
                TokenTree::Ident(name) => {
                    self.path_in_macro(&segments);
                    segments = vec![name.to_string()];
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.path_in_macro(&std::mem::take(&mut segments));
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.path_in_macro(&std::mem::take(&mut segments))
                }
            }
            colons = 0;
        }
        self.path_in_macro(&segments);
    }

    fn path_in_macro(&mut self, segments: &[String]) {
        if segments.len() > 1 {
            self.note(segments, false);
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if is_for_tests(&module.attrs) || module.content.is_none() {
            return;
        }
        self.inline.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.inline.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_for_tests(&item.attrs) {
            let reexported = !matches!(item.vis, Visibility::Inherited);
            self.tree(&[], &item.tree, reexported);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&segments, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, code: &'ast Macro) {
        self.tokens(code.tokens.clone());
        visit::visit_macro(self, code);
    }
}
