//! Workloads of the literature: which files a server holds, and who asks for which of them when.
//!
//! | file | idea |
//! | --- | --- |
//! | `name` | what they are called |
//! | `surge` | SURGE: heavy-tailed files, popularity, locality, users who pause |
//! | `webstone`, `specweb96` | fixed lists of files with shares of the requests |
//! | `list` | a request drawn from such a list |
//! | `law` | the distributions that the models share |
//! | [`content`] | the files themselves, for the server to serve |
//!
//! ```
//! use traffic::model::{Model, Visit};
//! let mut model = Model::named("webstone".parse()?, 1);
//! assert_eq!((model.objects().len(), model.total_bytes()), (77, 13_361 * 1024));
//! let mut visit = Visit::default();
//! model.visit(&mut visit);
//! assert!(model.objects()[visit.page as usize].url.starts_with("/webstone/"));
//! # Ok::<(), traffic::model::UnknownModel>(())
//! ```

pub mod content;
mod law;
mod list;
mod name;
mod specweb96;
mod surge;
mod webstone;

use std::sync::Arc;

use units::Span;

use list::List;
pub use name::{ModelName, UnknownModel};
use surge::Surge;

/// A file on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its path from the root of the server; each object of a model has its own.
    pub url: Arc<str>,
    /// Bytes.
    pub length: u64,
    /// What kind of object it is, for reports that tell kinds apart.
    pub group: Arc<str>,
}

/// What a user asks for in one go: a page, and what is embedded in it. Objects are indices into
/// [`Model::objects`].
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
    /// The same by somebody who asks for one thing after the other at once.
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

/// A workload of the literature: files, and an endless stream of requests for them. The name
/// decides the files, the same whatever the seed; name and seed decide the stream.
#[derive(Debug, Clone)]
pub struct Model {
    name: ModelName,
    objects: Arc<[Object]>,
    total_bytes: u64,
    stream: Stream,
}

#[derive(Debug, Clone)]
enum Stream {
    Surge(Surge),
    List(List),
}

impl Model {
    /// The model called `name`, with a stream of requests of its own for each `seed`.
    pub fn named(name: ModelName, seed: u64) -> Self {
        let (objects, stream) = match name {
            ModelName::Surge => surge::files_and_stream(&surge::RESPONSE_TIME_PAPER, name.folder(), seed),
            ModelName::Surge1998 => surge::files_and_stream(&surge::AS_PUBLISHED, name.folder(), seed),
            ModelName::WebStone => webstone::webmonitor(seed),
            ModelName::WebStone2 => webstone::standard(seed),
            ModelName::SpecWeb96 { rate } => specweb96::for_rate(rate, seed),
        };
        Self {
            name,
            total_bytes: objects.iter().map(|object| object.length).sum(),
            objects: objects.into(),
            stream,
        }
    }

    /// Which model this is.
    pub fn name(&self) -> ModelName {
        self.name
    }

    /// The files that the server is to have.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Bytes in all files together.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The next page that some user visits, and how: for a closed loop of users who share this
    /// stream. What was in `visit` is replaced; its memory is used again.
    pub fn visit(&mut self, visit: &mut Visit) {
        match &mut self.stream {
            Stream::Surge(surge) => surge.visit(visit),
            Stream::List(list) => {
                visit.page = list.request();
                visit.embedded.clear();
                visit.think = Span::ZERO;
            }
        }
    }

    /// The next request as one that stands alone, without page or user: for an open loop. An
    /// index into [`Model::objects`].
    pub fn request(&mut self) -> u32 {
        match &mut self.stream {
            Stream::Surge(surge) => surge.request(),
            Stream::List(list) => list.request(),
        }
    }
}
