//! Comments and documents can be read alone: phrases that lean on a neighbour, or that are not the
//! field's words, do not stand in them.

use std::fs;

use anyhow::Context;
use regex::Regex;

use super::complaint::Complaint;
use super::files;
use super::workspace::Workspace;
use crate::rules::Rules;

/// Files with comments that begin with `//`.
const CODE: [&str; 5] = [".rs", ".ts", ".js", ".c", ".h"];
const DOCUMENT: &str = ".md";
/// What has been said in the past stays as it was said.
const HISTORY: [&str; 2] = ["CHANGELOG.md", "docs/decisions/"];

/// A phrase that is looked for, compiled.
struct Phrase {
    pattern: Regex,
    except: Option<Regex>,
    mend: &'static str,
}

pub(super) fn check(
    workspace: &Workspace,
    rules: &Rules,
    complaints: &mut Vec<Complaint>,
) -> anyhow::Result<()> {
    let phrases = phrases(rules)?;
    let endings: Vec<_> = CODE.into_iter().chain([DOCUMENT]).collect();
    for path in files::below(&workspace.root, &endings)? {
        let name = files::relative(&workspace.root, &path);
        if HISTORY.iter().any(|past| name.starts_with(past)) {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let prose = if name.ends_with(DOCUMENT) { document(&text) } else { comments(&text) };
        for (line, prose) in prose {
            for phrase in &phrases {
                for found in phrase.pattern.find_iter(prose).map(|found| found.as_str()) {
                    if !phrase.except.as_ref().is_some_and(|except| except.is_match(found)) {
                        let what = format!("«{}» in a comment; {}", found.trim(), phrase.mend);
                        complaints.push(Complaint::at(&name, line, what));
                    }
                }
            }
        }
    }
    Ok(())
}

fn phrases(rules: &Rules) -> anyhow::Result<Vec<Phrase>> {
    let compile = |pattern: &str| {
        Regex::new(&format!("(?i){pattern}")).with_context(|| format!("the pattern {pattern} of a phrase"))
    };
    let phrases = rules.phrases.iter().map(|phrase| {
        anyhow::Ok(Phrase {
            pattern: compile(phrase.pattern)?,
            except: phrase.except.map(compile).transpose()?,
            mend: phrase.mend,
        })
    });
    phrases.collect()
}

/// What stands behind `//` in each line, with the line's number. Two slashes in a string or behind a colon, as in
/// addresses, begin no comment.
fn comments(text: &str) -> Vec<(usize, &str)> {
    let comment = |line: &'_ str| {
        let starts = line.match_indices("//").map(|(start, _)| start);
        let start = starts.into_iter().find(|start| {
            let before = &line[..*start];
            !before.ends_with(':') && before.matches('"').count().is_multiple_of(2)
        })?;
        Some(start)
    };
    text.lines()
        .enumerate()
        .filter_map(|(number, line)| comment(line).map(|start| (number + 1, &line[start..])))
        .collect()
}

/// The lines of a document that are not in a block of code.
fn document(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            lines.push((number + 1, line));
        }
    }
    lines
}
