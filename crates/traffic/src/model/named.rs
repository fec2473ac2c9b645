//! [`Model`]: a workload of the literature, by its name.

use std::sync::Arc;

use units::Span;

use super::list::List;
use super::name::ModelName;
use super::object::Object;
use super::surge::{self, Surge, data_set};
use super::visit::Visit;
use super::{specweb96, webstone};

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
        let surge = |data| {
            let (objects, surge) = surge::files_and_requests(data, name.folder(), seed);
            (objects, Stream::Surge(surge))
        };
        let list = |(objects, list)| (objects, Stream::List(list));
        let (objects, stream) = match name {
            ModelName::Surge => surge(&data_set::RESPONSE_TIME_PAPER),
            ModelName::Surge1998 => surge(&data_set::AS_PUBLISHED),
            ModelName::WebStone => list(webstone::webmonitor(seed)),
            ModelName::WebStone2 => list(webstone::standard(seed)),
            ModelName::SpecWeb96 { rate } => list(specweb96::for_rate(rate, seed)),
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
