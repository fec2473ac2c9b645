//! The configuration file described as JSON Schema, made from the types that read it.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::settings::file::{File, Window};
use crate::settings::root::Settings;

impl Settings {
    /// The configuration file as JSON Schema (2020-12), for editors and for programs that write such files.
    /// What it lets pass may still contradict itself; [`Settings::read`] finds that.
    pub fn schema() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let mut schema = settings.into_generator().into_root_schema_for::<File>();
        schema.insert("title".to_owned(), "Configuration of a Headworks gate".into());
        schema.remove("description");
        // One is in front of a server, or under it.
        schema.insert("anyOf".to_owned(), json!([{ "required": ["upstream"] }, { "required": ["attach"] }]));
        schema.into()
    }
}

impl JsonSchema for Window {
    fn schema_name() -> Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bounds = generator.subschema_for::<crate::settings::file::Bounds>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "adaptive" }, bounds] })
    }
}
