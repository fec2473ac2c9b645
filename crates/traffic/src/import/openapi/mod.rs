//! [`draft()`]: the operations of an interface that OpenAPI 3.0, 3.1 or Swagger 2.0 describes.
//!
//! `document.rs` is the description with its references, `sample.rs` makes values that fit a schema
//! (`scalar.rs` numbers and texts, `pattern.rs` texts of a pattern), `operation.rs`
//! reads an operation, `request.rs` fills its parameters and body, `security.rs` says which credentials are wanted,
//! `flow.rs` decides what is asked for in which order: what makes a thing first, what deletes it last.

mod document;
mod draft;
mod flow;
mod operation;
mod pattern;
mod request;
mod sample;
mod scalar;
mod security;

pub(super) use self::draft::draft;
