//! Times in a spec.

use config::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;
use units::Span;

/// A time that has a place in the spec.
#[derive(Deserialize, Clone, Copy, JsonSchema)]
#[serde(transparent)]
pub(super) struct Length(
    #[serde(with = "config::quantity")]
    #[schemars(with = "Quantity<Span>")]
    pub(super) Span,
);

/// The longest wait for the machine to come to rest.
///
/// Long enough for the sockets of a large test to be cleared up, short against the test itself.
pub(super) fn default_settle() -> Span {
    Span::from_secs(2)
}
