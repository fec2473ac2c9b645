//! Conditions written in the Common Expression Language (CEL).
//!
//! `cel` reads the language. What it reads is checked and typed once (`check`) and then evaluated
//! by `term`, which knows no loops: however a client fills its request, an expression takes time
//! in proportion to its own length and the request's, and allocates next to nothing. The macros
//! that would loop over a request (`all`, `exists`, `map`, `filter`) are refused for that reason.

mod check;
pub(crate) mod condition;
mod functions;
mod term;
