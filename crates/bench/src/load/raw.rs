//! The raw results: one line for each run, so that two versions of the file can be compared.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::table::Results;

/// Writes the results; the file is JSON as a whole.
pub(super) fn write(file: &Path, results: &Results) -> anyhow::Result<()> {
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    let head = json!({
        "host": results.host,
        "versions": results.versions,
        "command": results.command,
        "busy_before": results.busy,
        "network": results.isolation.describe(),
        "highest_rate": results.highest,
    });
    let runs: Vec<_> = results.runs.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    fs::write(file, text(&head, &runs)).with_context(|| format!("cannot write {}", file.display()))
}

fn text(head: &Value, runs: &[Value]) -> String {
    let lines: Vec<_> = runs.iter().map(Value::to_string).collect();
    format!("{{\"about\": {head:#},\n\"runs\": [\n{}\n]}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_line_and_the_whole_is_json() {
        let written = text(&json!({"busy_before": 0.01}), &[json!({"case": "a"}), json!({"case": "b"})]);
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["runs"][1]["case"], "b");
        assert!(written.lines().any(|line| line == r#"{"case":"a"},"#), "{written}");
    }
}
