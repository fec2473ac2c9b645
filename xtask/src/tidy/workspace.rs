//! [`Workspace`]: what `cargo metadata` and the sources say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use proc_macro2::TokenStream;
use serde::Deserialize;

use super::files;

/// The workspace.
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    pub(super) packages: Vec<Package>,
}

/// One of our crates.
pub(super) struct Package {
    pub(super) name: String,
    /// The manifest relative to the workspace.
    pub(super) manifest: String,
    /// The name of the folder that the manifest is in.
    pub(super) folder: String,
    pub(super) dependencies: Vec<Dependency>,
    /// Everything Rust below the folder: sources, tests, benchmarks.
    pub(super) sources: Vec<Source>,
}

/// One line under `[dependencies]` or its like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// The name that the sources use.
    pub(super) used_as: String,
    /// Whether it is for tests, benchmarks and examples only.
    pub(super) dev: bool,
}

/// A Rust file.
pub(super) struct Source {
    /// Relative to the workspace.
    pub(super) path: String,
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
    /// Whether it is part of the crate rather than a test, benchmark or build script beside it.
    pub(super) shipped: bool,
}

impl Workspace {
    /// Reads the workspace whose `Cargo.toml` is in `root`.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let root = root.canonicalize().with_context(|| format!("cannot read {}", root.display()))?;
        let metadata = metadata(&root)?;
        let packages = metadata.packages.into_iter().map(|package| Package::read(&root, package));
        Ok(Self { packages: packages.collect::<anyhow::Result<_>>()?, root })
    }

    /// The names of all our crates.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        self.packages.iter().map(|package| package.name.as_str()).collect()
    }
}

impl Package {
    fn read(root: &Path, found: FoundPackage) -> anyhow::Result<Self> {
        let folder = found.manifest_path.parent().unwrap_or(root);
        let mut sources = Vec::new();
        for path in files::below(folder, &[".rs"])? {
            let shipped = path.starts_with(folder.join("src"));
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let path = files::relative(root, &path);
            let (tokens, syntax) = parse(&text).with_context(|| format!("{path} is not Rust"))?;
            sources.push(Source { path, tokens, syntax, shipped });
        }
        Ok(Self {
            name: found.name,
            manifest: files::relative(root, &found.manifest_path),
            folder: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            dependencies: found.dependencies.into_iter().map(Dependency::from).collect(),
            sources,
        })
    }
}

fn parse(text: &str) -> anyhow::Result<(TokenStream, syn::File)> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok((tokens.clone(), syn::parse2(tokens)?))
}

impl From<FoundDependency> for Dependency {
    fn from(found: FoundDependency) -> Self {
        Self {
            used_as: found.rename.unwrap_or_else(|| found.name.clone()).replace('-', "_"),
            dev: found.kind.as_deref() == Some("dev"),
            name: found.name,
        }
    }
}

/// The part of `cargo metadata` that is looked at.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<FoundPackage>,
}

#[derive(Debug, Deserialize)]
struct FoundPackage {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<FoundDependency>,
}

#[derive(Debug, Deserialize)]
struct FoundDependency {
    name: String,
    rename: Option<String>,
    /// `dev`, `build`, or nothing for the rest.
    kind: Option<String>,
}

fn metadata(root: &Path) -> anyhow::Result<Metadata> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata says")
}
