//! Each rule against a small workspace that breaks it, and the same workspace whole.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;

use xtask::rules::May::{DependOn, DependOnAll};
use xtask::rules::{Phrase, Rules};
use xtask::tidy;

const RULES: Rules = Rules {
    edges: &[
        ("low", DependOn(&[])),
        ("middle", DependOn(&["low"])),
        ("top", DependOnAll),
        ("kit", DependOn(&[])),
    ],
    dev_edges: &[("low", &["middle"])],
    dev_only: &["kit"],
    owners: &[("tokio", &["top"])],
    unsafe_in: &[],
    rooms: &[("top", &[("cellar", &[]), ("hall", &["cellar"])])],
    longest_file: 12,
    longest_function: 6,
    banned_words: &[("SOMEDAY", "mend it")],
    phrases: &[
        Phrase { pattern: r"\bnobody\b", except: None, mend: "say who" },
        Phrase {
            pattern: r"(there )?\bis no \w+",
            except: Some("^there |no longer$"),
            mend: "say what is absent",
        },
    ],
};

/// The files of a workspace, and what is changed in it.
struct Tree(BTreeMap<&'static str, String>);

impl Tree {
    /// A workspace that keeps [`RULES`].
    fn whole() -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.set("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n")
            .set(
                "crates/low/Cargo.toml",
                &manifest("low", "[dev-dependencies]\nmiddle.path = \"../middle\"\n"),
            )
            .set("crates/low/src/lib.rs", "//! Low.\nmod low;\npub use low::Low;\n")
            .set("crates/low/src/low.rs", "pub struct Low;\n")
            .set("crates/low/tests/it.rs", "use middle::Middle;\n")
            .set("crates/middle/Cargo.toml", &manifest("middle", "[dependencies]\nlow.path = \"../low\"\n"))
            .set("crates/middle/src/lib.rs", "mod middle;\npub use middle::Middle;\n")
            .set("crates/middle/src/middle.rs", "pub struct Middle(low::Low);\n")
            .set(
                "crates/top/Cargo.toml",
                &manifest("top", "[dependencies]\nmiddle.path = \"../middle\"\ntokio = \"1\"\n"),
            )
            .set(
                "crates/top/src/main.rs",
                "mod cellar;\nmod hall;\nfn main() { tokio::run(middle::Middle) }\n",
            )
            .set("crates/top/src/cellar/mod.rs", "pub mod wine;\n")
            .set("crates/top/src/cellar/wine.rs", "pub struct Wine;\n")
            .set("crates/top/src/hall/mod.rs", "mod table;\npub use table::Table;\n")
            .set("crates/top/src/hall/table.rs", "use crate::cellar::wine::Wine;\npub struct Table(Wine);\n")
            .set("crates/kit/Cargo.toml", &manifest("kit", ""))
            .set("crates/kit/src/lib.rs", "pub fn kit() {}\n")
            .set(
                "README.md",
                "See [the crate](crates/low/src/lib.rs#L1) and [more](https://example.org/x).\n",
            );
        tree
    }

    fn set(&mut self, path: &'static str, text: &str) -> &mut Self {
        self.0.insert(path, text.to_owned());
        self
    }

    fn complaints(&self) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.0 {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let complaints = tidy::check(folder.path(), &RULES).unwrap();
        complaints.iter().map(ToString::to_string).collect()
    }
}

fn manifest(name: &str, dependencies: &str) -> String {
    format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}")
}

/// The whole workspace with some files replaced draws exactly one complaint.
#[track_caller]
fn check(changes: &[(&'static str, &str)], complaint: &str) {
    let mut tree = Tree::whole();
    for (path, text) in changes {
        tree.set(path, text);
    }
    assert_eq!(tree.complaints(), [complaint]);
}

#[test]
fn a_workspace_that_keeps_the_rules_draws_no_complaint() {
    assert_eq!(Tree::whole().complaints(), <[&str; 0]>::default());
}

#[test]
fn a_forbidden_edge() {
    check(
        &[
            (
                "crates/middle/Cargo.toml",
                &manifest("middle", "[dependencies]\nlow.path = \"../low\"\ntop.path = \"../top\"\n"),
            ),
            ("crates/middle/src/middle.rs", "pub struct Middle(low::Low, top::Top);\n"),
        ],
        "crates/middle/Cargo.toml: middle must not depend on top; move what it needs to a crate that both may use, \
         or change the architecture and the edges in xtask/src/rules.rs",
    );
}

#[test]
fn a_forbidden_edge_of_tests() {
    check(
        &[
            (
                "crates/middle/Cargo.toml",
                &manifest(
                    "middle",
                    "[dependencies]\nlow.path = \"../low\"\n[dev-dependencies]\ntop.path = \"../top\"\n",
                ),
            ),
            ("crates/middle/tests/it.rs", "use top::Top;\n"),
        ],
        "crates/middle/Cargo.toml: the tests of middle must not depend on top; test it where both may be used, \
         or allow it in the dev_edges in xtask/src/rules.rs",
    );
}

#[test]
fn test_helpers_in_what_ships() {
    check(
        &[
            (
                "crates/top/Cargo.toml",
                &manifest("top", "[dependencies]\nkit.path = \"../kit\"\ntokio = \"1\"\n"),
            ),
            ("crates/top/src/main.rs", "fn main() { tokio::run(kit::kit) }\n"),
        ],
        "crates/top/Cargo.toml: kit is for tests only; move it to [dev-dependencies]",
    );
}

#[test]
fn a_stale_edge() {
    check(
        &[
            ("crates/middle/Cargo.toml", &manifest("middle", "")),
            ("crates/middle/src/middle.rs", "pub struct Middle;\n"),
        ],
        "xtask/src/rules.rs: middle may depend on low and does not; take it out of the edges",
    );
}

#[test]
fn a_stale_edge_of_tests() {
    check(
        &[("crates/low/Cargo.toml", &manifest("low", ""))],
        "xtask/src/rules.rs: the tests of low may depend on middle and do not; take it out of the dev_edges",
    );
}

#[test]
fn a_dependency_that_no_source_names() {
    check(
        &[("crates/middle/src/middle.rs", "//! Stands on low.\npub struct Middle;\n")],
        "crates/middle/Cargo.toml: no source names low; delete the dependency",
    );
}

#[test]
fn an_empty_crate() {
    check(
        &[("crates/kit/src/lib.rs", "//! Soon.\nmod later;\n"), ("crates/kit/src/later.rs", "//! Later.\n")],
        "crates/kit/Cargo.toml: kit is empty; a crate appears when its code does",
    );
    check(
        &[("crates/kit/src/lib.rs", ""), ("crates/kit/src/main.rs", "fn main() {}\n")],
        "crates/kit/Cargo.toml: kit is empty; a crate appears when its code does",
    );
}

#[test]
fn crates_and_the_table_know_each_other() {
    check(
        &[("crates/new/Cargo.toml", &manifest("new", "")), ("crates/new/src/lib.rs", "pub fn new() {}\n")],
        "crates/new/Cargo.toml: nothing says what new may depend on; add it to the edges in xtask/src/rules.rs",
    );
    let mut tree = Tree::whole();
    tree.0.retain(|path, _| !path.contains("/kit/"));
    assert_eq!(tree.complaints(), ["xtask/src/rules.rs: there is no crate kit; take it out of the edges"]);
}

#[test]
fn a_folder_of_another_name() {
    let mut tree = Tree::whole();
    tree.0.retain(|path, _| !path.contains("/kit/"));
    tree.set("crates/tools/Cargo.toml", &manifest("kit", ""))
        .set("crates/tools/src/lib.rs", "pub fn kit() {}\n");
    assert_eq!(
        tree.complaints(),
        ["crates/tools/Cargo.toml: kit is in the folder tools; both have one name"]
    );
}

#[test]
fn an_external_crate_in_the_wrong_hands() {
    check(
        &[
            ("crates/kit/Cargo.toml", &manifest("kit", "[dependencies]\ntokio = \"1\"\n")),
            ("crates/kit/src/lib.rs", "pub fn kit() { tokio::run() }\n"),
        ],
        "crates/kit/Cargo.toml: tokio belongs to top; ask them for what kit needs",
    );
    let for_tests = manifest("kit", "[dev-dependencies]\ntokio = \"1\"\n");
    let mut tree = Tree::whole();
    tree.set("crates/kit/Cargo.toml", &for_tests).set("crates/kit/tests/it.rs", "use tokio::run;\n");
    assert_eq!(tree.complaints(), <[&str; 0]>::default());
}

#[test]
fn code_that_says_unsafe() {
    check(
        &[(
            "crates/kit/src/lib.rs",
            "//! Not unsafe.\npub fn kit() {\n    let _ = \"unsafe\";\n    unsafe {}\n}\n",
        )],
        "crates/kit/src/lib.rs:4: unsafe code in kit; find a safe interface to it",
    );
}

#[test]
fn a_test_that_is_ignored_without_a_reason() {
    check(
        &[(
            "crates/kit/src/lib.rs",
            "#[ignore = \"needs root\"]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\n",
        )],
        "crates/kit/src/lib.rs:4: a test is ignored without a reason; write #[ignore = \"why\"]",
    );
}

#[test]
fn long_files_and_long_functions() {
    let code = "pub const A: u8 = 1;\n".repeat(12);
    let commented = format!("//! About.\n\n{code}// The end.\n");
    let mut tree = Tree::whole();
    assert_eq!(tree.set("crates/kit/src/lib.rs", &commented).complaints(), <[&str; 0]>::default());
    check(
        &[("crates/kit/src/lib.rs", &format!("{code}const B: u8 = 2;\n"))],
        "crates/kit/src/lib.rs: 13 lines of code, 12 at most; split the file along its ideas",
    );
    let function =
        |steps: &str| format!("impl Kit {{\n    fn f(\n        self,\n    ) {{\n{steps}    }}\n}}\n");
    let kept = function("        a();\n\n        // Why.\n        b();\n");
    let mut tree = Tree::whole();
    assert_eq!(tree.set("crates/kit/src/lib.rs", &kept).complaints(), <[&str; 0]>::default());
    check(
        &[("crates/kit/src/lib.rs", &function("        a();\n        b();\n        c();\n"))],
        "crates/kit/src/lib.rs:2: fn f has 7 lines of code, 6 at most; give its steps names",
    );
}

#[test]
fn links_to_nowhere() {
    check(
        &[("README.md", "# A\n\n[b](https://b/) [c](#a)\n`[d](no/link.md)`\n\n![e](pictures/e.png)\n")],
        "README.md:6: pictures/e.png does not exist; mend the link",
    );
}

#[test]
fn words_that_do_not_belong() {
    check(
        &[("crates/kit/src/lib.rs", "// SOMEDAYs are not words.\npub fn kit() {} // SOMEDAY: all\n")],
        "crates/kit/src/lib.rs:2: SOMEDAY; mend it",
    );
}

#[test]
fn a_circle_of_files() {
    check(
        &[
            ("crates/top/src/cellar/mod.rs", "pub mod rack;\npub mod wine;\n"),
            ("crates/top/src/cellar/rack.rs", "use super::wine::Wine;\npub struct Rack(Wine);\n"),
            (
                "crates/top/src/cellar/wine.rs",
                "pub struct Wine;\nimpl Wine { fn at(r: crate::cellar::rack::Rack) {} }\n",
            ),
        ],
        "crates/top/src/cellar/rack.rs: a circle of 2 files: cellar::rack imports Wine from cellar::wine; \
         cellar::wine imports Rack from cellar::rack",
    );
}

#[test]
fn a_circle_through_a_reexport_in_a_macro() {
    check(
        &[
            ("crates/top/src/hall/mod.rs", "mod lamp;\nmod table;\npub use table::Table;\n"),
            (
                "crates/top/src/hall/lamp.rs",
                "fn on() { println!(\"{}\", super::Table::of(1)) }\npub fn light() {}\n",
            ),
            (
                "crates/top/src/hall/table.rs",
                "use crate::cellar::wine::Wine;\npub struct Table(Wine);\nfn set() { super::lamp::light() }\n",
            ),
        ],
        "crates/top/src/hall/lamp.rs: a circle of 2 files: hall::lamp imports Table from hall::table; \
         hall::table imports light from hall::lamp",
    );
}

#[test]
fn tests_beside_the_code_make_no_circle() {
    let mut tree = Tree::whole();
    tree.set("crates/top/src/cellar/mod.rs", "pub mod wine;\n#[cfg(test)]\nmod tests;\n")
        .set("crates/top/src/cellar/tests.rs", "use crate::hall::Table;\n")
        .set(
            "crates/top/src/cellar/wine.rs",
            "pub struct Wine;\n#[cfg(test)]\nmod tests {\n    use crate::hall::Table;\n}\n",
        );
    assert_eq!(tree.complaints(), <[&str; 0]>::default());
}

#[test]
fn a_type_where_modules_are_declared() {
    check(
        &[("crates/top/src/cellar/mod.rs", "pub mod wine;\n\npub enum Age { Old }\n")],
        "crates/top/src/cellar/mod.rs:3: enum Age is defined where modules are declared; \
         give it a file that is named after it",
    );
}

#[test]
fn an_import_upwards() {
    check(
        &[
            ("crates/top/src/cellar/wine.rs", "pub struct Wine;\nfn f(_: crate::hall::Hook) {}\n"),
            (
                "crates/top/src/hall/mod.rs",
                "mod hook;\nmod table;\npub use hook::Hook;\npub use table::Table;\n",
            ),
            ("crates/top/src/hall/hook.rs", "pub struct Hook;\n"),
        ],
        "crates/top/src/cellar/wine.rs: cellar must not import from hall; move what it needs below both, \
         or change xtask/src/rooms.rs",
    );
}

#[test]
fn a_stale_edge_between_rooms() {
    check(
        &[("crates/top/src/hall/table.rs", "pub struct Table;\n")],
        "xtask/src/rooms.rs: top: hall may import from cellar and does not; take it out",
    );
}

#[test]
fn rooms_and_the_table_know_each_other() {
    check(
        &[
            (
                "crates/top/src/main.rs",
                "mod attic;\nmod cellar;\nmod hall;\nfn main() { tokio::run(middle::Middle) }\n",
            ),
            ("crates/top/src/attic.rs", "pub fn attic() {}\n"),
        ],
        "xtask/src/rooms.rs: top has a room attic; say what it may import",
    );
    check(
        &[
            ("crates/kit/src/lib.rs", "pub mod a;\npub mod b;\n"),
            ("crates/kit/src/a/mod.rs", "pub mod c;\n"),
            ("crates/kit/src/a/c.rs", "pub fn c() {}\n"),
            ("crates/kit/src/b/mod.rs", "pub mod d;\n"),
            ("crates/kit/src/b/d.rs", "pub fn d() {}\n"),
        ],
        "crates/kit/Cargo.toml: nothing says which rooms kit has and which may import which; \
         add it to xtask/src/rooms.rs (cargo xtask rooms kit prints what there is)",
    );
}

#[test]
fn phrases_that_lean_on_a_neighbour() {
    check(
        &[("crates/kit/src/lib.rs", "/// Nobody waits.\npub fn kit() -> &'static str { \"nobody\" }\n")],
        "crates/kit/src/lib.rs:1: «Nobody» in a comment; say who",
    );
    check(
        &[("README.md", "It is no server. There is no end, it is no longer.\n\n    nobody\n")],
        "README.md:1: «is no server» in a comment; say what is absent",
    );
}
