//! Formats of access logs: [`Format`] is what a user says of one, [`Parser`] reads lines of any.
//!
//! Each module reads one of them into an [`Entry`](super::entry::Entry), whose request is as the log has it. Fields that
//! are known by their names go through [`gathered::Gathered`].

mod chosen;
mod common;
mod docker;
mod fields;
mod gathered;
mod json;
mod json_fields;
mod load_balancer;
mod parser;
mod template;
mod template_error;
mod variables;
mod w3c;

pub use self::chosen::Format;
pub(super) use self::parser::Parser;
pub use self::template_error::TemplateError;
