//! The JSON Schema of specs: the project's own specs are valid by it, and what is not a spec is not.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn specs(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(specs(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found
}

/// Those that are of the lab, as JSON.
fn read(path: &Path) -> Option<Value> {
    let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    table.contains_key("experiment").then(|| serde_json::to_value(table).unwrap())
}

#[test]
fn the_projects_own_specs_are_of_it() {
    let validator = jsonschema::draft202012::new(&lab::schema()).unwrap();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut count = 0;
    for path in specs(&directory) {
        let Some(spec) = read(&path) else { continue };
        let errors: Vec<String> = validator.iter_errors(&spec).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        count += 1;
    }
    assert!(count > 20, "{count}");
}

#[test]
fn what_is_no_spec_is_not() {
    let validator = jsonschema::draft202012::new(&lab::schema()).unwrap();
    let good = json!({
        "experiment": { "title": "x" },
        "server": { "kind": "origin" },
        "workload": { "url": "/" },
        "search": {},
    });
    assert!(validator.is_valid(&good));
    for (place, wrong) in [
        ("/server/kind", json!("apache3")),
        ("/server/workers", json!("many")),
        ("/workload/requests-per-conection", json!(1)),
        ("/search/precission", json!("1%")),
        ("/prediction", json!({ "loads": 1 })),
        ("/factors", json!([])),
    ] {
        let mut spec = good.clone();
        let (table, key) = place.rsplit_once('/').unwrap();
        spec.pointer_mut(table).unwrap()[key] = wrong;
        assert!(!validator.is_valid(&spec), "{place}");
    }
}
