//! A spec described as JSON Schema, made from the types that read it.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::file::File;

/// A spec as JSON Schema (2020-12), for editors and programs that make such files. What it lets pass may still contradict
/// itself; [`crate::dry_run()`] finds that.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "Spec of a Headworks experiment".into());
    schema.remove("description");
    schema.into()
}
