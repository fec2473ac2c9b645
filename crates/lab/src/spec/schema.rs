//! A spec described as JSON Schema, made from the types that read it.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::file::File;
use super::workload::AskedEntry;

/// A table whose keys are not the lab's.
pub(super) type Free = Map<String, Value>;

/// `[workload]`: what is asked for again and again, or sessions as a workload file has them.
pub(super) struct WorkloadEntry;

impl JsonSchema for WorkloadEntry {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let asked = generator.subschema_for::<AskedEntry>();
        let is_asked = json_schema!({ "anyOf": [{ "required": ["url"] }, { "required": ["model"] }] });
        json_schema!({ "type": "object", "if": is_asked, "then": asked })
    }
}

/// A spec as JSON Schema (2020-12), for editors and whoever makes such files. What it lets pass may still contradict
/// itself; [`crate::outlook()`] finds that.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "Spec of a Headworks experiment".into());
    schema.remove("description");
    schema.into()
}
