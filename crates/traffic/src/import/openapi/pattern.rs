//! [`matching`]: a text that a regular expression matches.

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Characters that are taken where a class has them, in this order.
const USUAL: [char; 5] = ['a', 'A', '1', '-', '_'];
/// A longer text is not what a pattern is about.
const LONGEST: usize = 1_000;

/// A text of so many characters that `pattern` matches; `None` where none is found.
pub(super) fn matching(pattern: &str, shortest: usize, longest: usize) -> Option<String> {
    let (regex, tree) = (Regex::new(pattern).ok()?, regex_syntax::parse(pattern).ok()?);
    let fits = |text: &String| (shortest..=longest).contains(&text.chars().count()) && regex.is_match(text);
    let texts = (0..=shortest.min(LONGEST)).map(|more| {
        let mut text = String::new();
        write(&tree, more, &mut text);
        text
    });
    texts.into_iter().find(fits)
}

/// Writes what matches, with `more` repetitions than are needed where there may be more.
fn write(tree: &Hir, more: usize, text: &mut String) {
    if text.len() > LONGEST {
        return;
    }
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class)),
        HirKind::Capture(group) => write(&group.sub, more, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, more, text)),
        HirKind::Alternation(choices) => choices.iter().take(1).for_each(|choice| write(choice, more, text)),
        HirKind::Repetition(repeated) => {
            let most = repeated.max.map_or(usize::MAX, |most| most as usize);
            for _ in 0..(repeated.min as usize).saturating_add(more).min(most) {
                write(&repeated.sub, more, text);
            }
        }
    }
}

fn character(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let has = |c: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c));
    let first = || class.ranges().iter().map(|range| range.start()).find(|c| !c.is_control());
    USUAL.into_iter().find(has).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_their_patterns() {
        for (pattern, shortest, expected) in [
            ("^[A-Z]{3}-\\d{4}$", 0, Some("AAA-1111")),
            ("^(?:red|blue)$", 0, Some("red")),
            ("^[a-z]+$", 4, Some("aaaa")),
            ("^\\+?[0-9]{1,3}$", 0, Some("1")),
            ("publishers/[^/]+", 0, Some("publishers/a")),
            ("^[0-9]{2}$", 5, None),
            ("^(?!x)y$", 0, None),
            ("^(a{1,99}){1,99}$", 0, Some("a")),
        ] {
            assert_eq!(matching(pattern, shortest, usize::MAX).as_deref(), expected, "{pattern}");
        }
    }
}
