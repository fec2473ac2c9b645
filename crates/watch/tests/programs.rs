//! Operators find the programs of the monitor in `bpftool prog`: by `hw_`, and by the hook that each is at.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;

/// Bytes of a name that the kernel keeps (`BPF_OBJ_NAME_LEN` in `include/uapi/linux/bpf.h`, without the last).
const MAX_NAME: usize = 15;

/// Section and name of each program in the C of a file.
fn programs(text: &str) -> Vec<(String, String)> {
    let mut programs = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(section) = line.strip_prefix("SEC(\"").and_then(|rest| rest.strip_suffix("\")")) else {
            continue;
        };
        let function = lines.next().unwrap();
        let function = function.strip_prefix("int ").unwrap();
        let name = function.strip_prefix("BPF_PROG(").unwrap_or(function);
        programs.push((section.to_owned(), name.split(['(', ',']).next().unwrap().to_owned()));
    }
    programs
}

#[test]
fn programs_bear_the_names_of_their_hooks() {
    let mut found = Vec::new();
    for folder in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let Ok(files) = fs::read_dir(folder.unwrap().path()) else { continue };
        for file in files {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "c" || extension == "h") {
                found.extend(programs(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(found.len() >= 20, "{found:?}");
    for (section, name) in &found {
        let own = name.strip_prefix("hw_").unwrap_or_else(|| panic!("{name} of {section}"));
        assert!(name.len() <= MAX_NAME, "{name} is longer than {MAX_NAME}");
        let hook = section.split('/').next_back().unwrap();
        assert!(
            hook.split('_').chain([hook]).any(|word| own.split('_').any(|part| part == word)),
            "{name} of {section}"
        );
    }
    let mut names: Vec<_> = found.iter().map(|(_, name)| name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), found.len(), "a name twice");
}
