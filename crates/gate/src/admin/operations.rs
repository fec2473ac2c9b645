//! What the admin interface can be asked, and its description (OpenAPI 3.1), which is made from
//! the same list and the same types as the answers.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::admin::{answer, changes, foresight, history, knobs, mode, operate, queue, sessions, state};
use crate::observe::foresight::{Outcome, Prediction};

/// One thing that can be asked.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) path: &'static str,
    pub(super) method: &'static str,
    name: &'static str,
    summary: &'static str,
    /// Of the query.
    query: &'static [Parameter],
    takes: Option<fn(&mut SchemaGenerator) -> Schema>,
    gives: Gives,
}

/// Something in the query of a request: name, type of JSON, and meaning.
type Parameter = (&'static str, &'static str, &'static str);

/// What an answer holds.
#[derive(Debug)]
enum Gives {
    Json(fn(&mut SchemaGenerator) -> Schema),
    Text(&'static str),
}

const fn get(path: &'static str, name: &'static str, summary: &'static str, gives: Gives) -> Operation {
    Operation { path, method: "GET", name, summary, query: &[], takes: None, gives }
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Everything that can be asked.
pub(super) const OPERATIONS: &[Operation] = &[
    get("/metrics", "metrics", "Metrics for Prometheus", Gives::Text("text/plain")),
    get("/api/v1/openapi.json", "openapi", "This description", Gives::Json(schema::<Map<String, Value>>)),
    get("/api/v1/state", "state", "The gate as it is now", Gives::Json(schema::<state::State>)),
    get("/api/v1/knobs", "knobs", "The operator's knobs", Gives::Json(schema::<knobs::Shown>)),
    Operation {
        path: "/api/v1/knobs",
        method: "PATCH",
        name: "moveKnobs",
        summary: "Moves the knobs that are named",
        query: &[],
        takes: Some(schema::<knobs::Patch>),
        gives: Gives::Json(schema::<knobs::Shown>),
    },
    Operation {
        path: "/api/v1/mode",
        method: "PATCH",
        name: "setMode",
        summary: "Lets the gate decide, or only say what it would have decided",
        query: &[],
        takes: Some(schema::<mode::ModeOf>),
        gives: Gives::Json(schema::<mode::ModeOf>),
    },
    Operation {
        path: "/api/v1/history",
        method: "GET",
        name: "history",
        summary: "What the last minutes were like",
        query: &[
            ("seconds", "integer", "How much of the past, from 1 to 3600; 600 without it"),
            ("samples", "integer", "As how many samples at most, from 1 to 3600; 600 without it"),
        ],
        takes: None,
        gives: Gives::Json(schema::<history::Recorded>),
    },
    get("/api/v1/changes", "changes", "What operators have changed", Gives::Json(schema::<changes::Changed>)),
    Operation {
        path: "/api/v1/foresight",
        method: "POST",
        name: "foresee",
        summary: "What other knobs would do to the load of the last minutes, simulated",
        query: &[],
        takes: Some(schema::<foresight::Asked>),
        gives: Gives::Json(schema::<Prediction>),
    },
    Operation {
        path: "/api/v1/outcome",
        method: "GET",
        name: "outcome",
        summary: "What came of the sessions that began lately",
        query: &[("since", "number", "Only of those that began since then, in seconds since 1970")],
        takes: None,
        gives: Gives::Json(schema::<Outcome>),
    },
    Operation {
        path: "/api/v1/queue",
        method: "GET",
        name: "queue",
        summary: "What waits, and where",
        query: &[
            ("limit", "integer", "How many to show, from 1 to 1000; 100 without it"),
            ("offset", "integer", "How many to leave out first"),
            ("search", "string", "Only those with this in their client's address, their path or their id"),
            ("class", "string", "Only those of this class"),
            ("stage", "string", "Only those that wait in this stage: acceptor, pending, discard or class"),
        ],
        takes: None,
        gives: Gives::Json(schema::<queue::Queue>),
    },
    get(
        "/api/v1/sessions",
        "sessions",
        "Sessions whose class was set by hand",
        Gives::Json(schema::<sessions::All>),
    ),
    Operation {
        path: "/api/v1/sessions/{id}/class",
        method: "POST",
        name: "setClass",
        summary: "Sets the class of a session, up or down, until it ends",
        query: &[],
        takes: Some(schema::<sessions::SetClass>),
        gives: Gives::Json(schema::<sessions::Set>),
    },
    Operation {
        path: "/api/v1/sessions/{id}/class",
        method: "DELETE",
        name: "unsetClass",
        summary: "Lets a session be of its own class again",
        query: &[],
        takes: None,
        gives: Gives::Json(schema::<sessions::Set>),
    },
    get(
        "/readyz",
        "ready",
        "Whether clients are to be sent here: if not, the status is 503",
        Gives::Json(schema::<operate::Readiness>),
    ),
    Operation {
        path: "/api/v1/drain",
        method: "POST",
        name: "drain",
        summary: "Sends clients elsewhere: each response is the last on its connection, and the gate is not ready",
        query: &[],
        takes: None,
        gives: Gives::Json(schema::<operate::Readiness>),
    },
    Operation {
        path: "/api/v1/drain",
        method: "DELETE",
        name: "undrain",
        summary: "Takes clients again",
        query: &[],
        takes: None,
        gives: Gives::Json(schema::<operate::Readiness>),
    },
    get(
        "/api/v1/reload",
        "reloadDifference",
        "What reading the configuration again would change",
        Gives::Json(schema::<operate::Difference>),
    ),
    Operation {
        path: "/api/v1/reload",
        method: "POST",
        name: "reload",
        summary: "Reads the configuration again",
        query: &[],
        takes: None,
        gives: Gives::Json(schema::<operate::Reloaded>),
    },
    Operation {
        path: "/api/v1/events",
        method: "GET",
        name: "events",
        summary: "What happens, as it happens: server-sent events",
        query: &[("samples", "boolean", "With true also every second, as in the history")],
        takes: None,
        gives: Gives::Text("text/event-stream"),
    },
    get("/console", "console", "The operator's console", Gives::Text("text/html")),
    get("/console/refusal", "refusal", "What a refused client is shown", Gives::Text("text/html")),
    get(
        "/console/waiting-room",
        "waitingRoom",
        "What a visitor is shown who has to wait",
        Gives::Text("text/html"),
    ),
];

/// The methods that a path of [`OPERATIONS`] knows, as `Allow` lists them. A stream of events has
/// no head worth asking for alone.
pub(super) fn methods(path: &str) -> String {
    let mut methods = Vec::new();
    for operation in OPERATIONS.iter().filter(|operation| operation.path == path) {
        methods.push(operation.method);
        if operation.method == "GET" && !matches!(operation.gives, Gives::Text("text/event-stream")) {
            methods.push("HEAD");
        }
    }
    methods.join(", ")
}

/// The description of the admin interface, as OpenAPI has it.
pub fn description() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<answer::Problem>();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let described = operation.describe(&mut generator, &problem);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.to_ascii_lowercase()] = described;
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Headworks gate",
            "summary": "The admin interface of a gate",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        // A gate that listens on a loopback address only may do without.
        "security": [{ "token": [] }, {}],
    })
}

impl Operation {
    fn describe(&self, generator: &mut SchemaGenerator, problem: &Schema) -> Value {
        let content = match self.gives {
            Gives::Json(schema) => json!({ "application/json": { "schema": schema(generator) } }),
            Gives::Text(media) => json!({ media: { "schema": { "type": "string" } } }),
        };
        let mut parameters: Vec<Value> =
            self.query.iter().map(|(name, kind, meaning)| parameter(name, "query", kind, meaning)).collect();
        if self.path.contains("{id}") {
            parameters.push(parameter(
                "id",
                "path",
                "string",
                "The session's id: up to 16 hexadecimal digits",
            ));
        }
        let mut described = json!({
            "operationId": self.name,
            "summary": self.summary,
            "parameters": parameters,
            "responses": {
                "200": { "description": self.summary, "content": content },
                "default": {
                    "description": "What is wrong, and how to mend it",
                    "content": { "application/json": { "schema": problem } },
                },
            },
        });
        if let Some(takes) = self.takes {
            let schema = takes(generator);
            described["requestBody"] =
                json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        }
        described
    }
}

fn parameter(name: &str, place: &str, kind: &str, meaning: &str) -> Value {
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "description": meaning,
        "schema": { "type": kind },
    })
}
