//! [`Listening`]: events of a gate as they come.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use tokio::time::{Instant, timeout_at};

use super::sse::{Event, Parser};
use crate::fault::Fault;
use crate::text::clean;

/// A gate sends a sample every second; one that does not has stopped, or the network has.
const SILENCE: Duration = Duration::from_secs(10);

/// Events of a gate.
#[derive(Debug)]
pub(crate) struct Listening {
    body: Incoming,
    /// The connection is closed when this is dropped.
    _sender: SendRequest<Full<Bytes>>,
    parser: Parser,
    waiting: VecDeque<Event>,
    place: String,
    /// When something came last.
    heard: Instant,
}

impl Listening {
    pub(super) fn new(body: Incoming, sender: SendRequest<Full<Bytes>>, place: String) -> Self {
        let (parser, waiting, heard) = (Parser::default(), VecDeque::new(), Instant::now());
        Self { body, _sender: sender, parser, waiting, place, heard }
    }

    /// The next event. Nothing is lost when this is not waited for to its end.
    pub(crate) async fn next(&mut self) -> Result<Event, Fault> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            let frame = timeout_at(self.heard + SILENCE, self.body.frame()).await;
            let frame = frame.map_err(|_| Fault::Silent { place: self.place.clone(), limit: SILENCE })?;
            let frame = match frame {
                Some(Ok(frame)) => frame,
                Some(Err(why)) => return Err(self.broken(&why.to_string())),
                None => return Err(self.broken("the gate ended the events")),
            };
            self.heard = Instant::now();
            if let Ok(bytes) = frame.into_data() {
                let events = self.parser.feed(&bytes).map_err(|_| self.broken("an event without an end"))?;
                self.waiting.extend(events);
            }
        }
    }

    fn broken(&self, why: &str) -> Fault {
        Fault::Broken { place: self.place.clone(), why: clean(why) }
    }
}
