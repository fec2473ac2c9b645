//! [`import`]: a workload file from a recording of a browser or a description of an interface.
//!
//! `har/` reads recordings (HTTP Archive 1.2), `openapi/` descriptions (OpenAPI 3, Swagger 2.0; `yaml.rs` where they are
//! YAML). Both end in a draft of pages (`draft.rs`) whose texts (`text.rs`) are what is sent as it stands, and names of values.
//! `correlate.rs` finds values that come with one response and are sent later; `write.rs` writes the file.

mod correlate;
mod draft;
mod har;
mod job;
mod openapi;
mod place;
mod text;
mod write;
mod yaml;

pub use self::job::{Format, ImportError, Imported, Options, import};
