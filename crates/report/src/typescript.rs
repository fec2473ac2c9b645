//! The report's types in TypeScript, for the page: `web/src/report.ts` is written from the Rust types.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use crate::document::Data;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/report.ts");

/// What writes the file anew when it is set.
const UPDATE: &str = "UPDATE_REPORT_TYPES";

const HEAD: &str = "\
// Generated from the types of the crate `report`, which `headworks report --json` prints as well. Do not edit:
// `make report-types` writes it.
//
// Times are in seconds, rates per second, shares from 0 to 1, moments as in RFC 3339.
";

/// Types by name, as they are declared.
struct Declarations {
    config: Config,
    seen: HashSet<TypeId>,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // What has no file of its own is a type of TypeScript's.
        if T::output_path().is_none() || !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        let declaration = format!("{}export {}", T::docs().unwrap_or_default(), T::decl(&self.config));
        self.found.insert(T::ident(&self.config), declaration);
        T::visit_dependencies(self);
    }
}

fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, seen: HashSet::new(), found: BTreeMap::new() };
    declarations.visit::<Data<'static>>();
    let all: Vec<String> = std::iter::once(HEAD.to_owned()).chain(declarations.found.into_values()).collect();
    short_comments(&all.join("\n\n"))
}

/// Comments of one line in one line.
fn short_comments(text: &str) -> String {
    let mut lines = text.lines().peekable();
    let mut short = String::new();
    while let Some(line) = lines.next() {
        short += line;
        if line.trim() == "/**" {
            let mut comment: Vec<&str> = Vec::new();
            while let Some(line) = lines.next_if(|line| line.trim() != "*/") {
                comment.push(line);
            }
            if let [only] = &comment[..] {
                short += only.trim_start().trim_start_matches('*');
                short += " */\n";
                lines.next();
                continue;
            }
            comment.iter().for_each(|line| short += &format!("\n{line}"));
        }
        short.push('\n');
    }
    short
}

/// Without what a formatter changes: prettier has its own ideas of space and punctuation.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !",;|'\"()*".contains(*c)).collect()
}

#[test]
fn the_types_of_the_page_are_those_of_the_report() {
    let current = typescript();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(FILE, current).unwrap();
        return;
    }
    let there = std::fs::read_to_string(FILE).unwrap_or_default();
    let path = Path::new("web/src/report.ts");
    assert!(bare(&there) == bare(&current), "{} is old; `make report-types` writes it anew", path.display());
}
