//! [`Visit`]: a page and what is embedded in it.

use units::Span;

/// What a user asks for in one go: a page, and what is embedded in it. Objects are indices into
/// [`Model::objects`](super::Model::objects).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visit {
    /// The page itself.
    pub page: u32,
    /// What is fetched after it, in this order.
    pub embedded: Vec<Embedded>,
    /// How long the user pauses once all of it has arrived.
    pub think: Span,
}

impl Visit {
    /// Takes the pauses out: each thing is asked for as soon as the one before it has come.
    pub fn without_pauses(&mut self) {
        self.think = Span::ZERO;
        self.embedded.iter_mut().for_each(|embedded| embedded.pause = Span::ZERO);
    }
}

/// An object embedded in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Embedded {
    /// The object.
    pub object: u32,
    /// The pause before it is asked for, from the end of what came before.
    pub pause: Span,
}
