//! Links that lead somewhere, words that do not belong.

use std::fs;
use std::path::Path;

use anyhow::Context;
use pulldown_cmark::{Event, Parser, Tag};

use super::complaint::Complaint;
use super::files;
use super::workspace::Workspace;
use crate::rules::Rules;

/// What people write: code, documents, configuration.
const WRITTEN: [&str; 7] = [".rs", ".md", ".toml", ".ts", ".css", ".sh", "Makefile"];

/// The file that has to name the banned words.
const LIST_OF_WORDS: &str = "xtask/src/rules.rs";

pub(super) fn check(
    workspace: &Workspace,
    rules: &Rules,
    complaints: &mut Vec<Complaint>,
) -> anyhow::Result<()> {
    for path in files::below(&workspace.root, &WRITTEN)? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = files::relative(&workspace.root, &path);
        if name != LIST_OF_WORDS {
            banned_words(&name, &text, rules, complaints);
        }
        if name.ends_with(".md") {
            dead_links(&workspace.root, &path, &name, &text, complaints);
        }
    }
    Ok(())
}

fn banned_words(name: &str, text: &str, rules: &Rules, complaints: &mut Vec<Complaint>) {
    for (number, line) in text.lines().enumerate() {
        for (word, mend) in rules.banned_words {
            if line.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word) {
                complaints.push(Complaint::at(name, number + 1, format!("{word}; {mend}")));
            }
        }
    }
}

fn dead_links(root: &Path, path: &Path, name: &str, text: &str, complaints: &mut Vec<Complaint>) {
    for (event, range) in Parser::new(text).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        let target = dest_url.split('#').next().unwrap_or_default();
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let from = if target.starts_with('/') { root } else { path.parent().unwrap_or(root) };
        if !from.join(target.trim_start_matches('/')).exists() {
            let line = 1 + text.get(..range.start).unwrap_or_default().matches('\n').count();
            complaints.push(Complaint::at(name, line, format!("{target} does not exist; mend the link")));
        }
    }
}
