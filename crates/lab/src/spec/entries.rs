//! Parts of a spec whose keys are described elsewhere, as JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

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
