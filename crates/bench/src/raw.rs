//! Raw results: one line for each run, so that two versions of a file can be compared.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

/// Writes runs and what is to be known `about` all of them; the file is JSON as a whole.
pub(crate) fn write(file: &Path, about: &Value, runs: &[impl Serialize]) -> anyhow::Result<()> {
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    let runs: Vec<_> = runs.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
    fs::write(file, text(about, &runs)).with_context(|| format!("cannot write {}", file.display()))
}

fn text(about: &Value, runs: &[Value]) -> String {
    let lines: Vec<_> = runs.iter().map(Value::to_string).collect();
    format!("{{\"about\": {about:#},\n\"runs\": [\n{}\n]}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_a_line_and_the_whole_is_json() {
        let written = text(&json!({"busy_before": 0.01}), &[json!({"case": "a"}), json!({"case": "b"})]);
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["runs"][1]["case"], "b");
        assert!(written.lines().any(|line| line == r#"{"case":"a"},"#), "{written}");
    }
}
