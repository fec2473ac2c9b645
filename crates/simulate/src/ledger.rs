//! [`Ledger`]: what became of each request, seen from both ends, and what does not add up.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::page::{Manner, Page};
use crate::trace::Trace;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding(pub String);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the client saw its request end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// A response came whole.
    Answered {
        /// Its status.
        status: u16,
    },
    /// The connection was closed before the first byte of a response.
    Unanswered {
        /// It had carried requests before: either side may close it at any time then.
        reused: bool,
    },
    /// The response began and did not end.
    Broken,
    /// The client left.
    Left,
}

/// Whether a request may be sent to a server twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// GET and the like.
    Allowed,
    /// POST.
    Forbidden,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    page: Page,
    repeats: Repeats,
    served: u32,
    ended: Option<Ended>,
}

/// The requests of a world.
#[derive(Debug, Clone)]
pub struct Ledger(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    trace: Trace,
    next: Cell<u64>,
    open: RefCell<BTreeMap<u64, Entry>>,
    tally: Cell<RequestCounts>,
    findings: RefCell<Vec<Finding>>,
    /// Whether no server and no wire can be blamed.
    blameless: bool,
}

/// How many requests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Sent by clients.
    pub sent: u64,
    /// Answered by a server.
    pub served: u64,
    /// Refused by the gate (503).
    pub refused: u64,
    /// Answered by the gate for the server (502, 504), or for a bad request.
    pub failed: u64,
    /// Without a byte of an answer.
    pub unanswered: u64,
    /// Broken off.
    pub broken: u64,
    /// Left by the client.
    pub left: u64,
    /// Lost although the server had answered: it did so before it had read the body, and closed the connection.
    /// A fault of the gate that is known, and counted instead of found.
    pub early_lost: u64,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(trace: Trace, blameless: bool) -> Self {
        Self(Rc::new(Inner {
            trace,
            next: Cell::new(1),
            open: RefCell::default(),
            tally: Cell::default(),
            findings: RefCell::default(),
            blameless,
        }))
    }

    /// Where it writes what happens.
    pub fn trace(&self) -> &Trace {
        &self.0.trace
    }

    /// Gives a page that is about to be asked for its number.
    pub fn begin(&self, page: Page, repeats: Repeats) -> Page {
        let id = self.0.next.replace(self.0.next.get() + 1);
        let page = Page { id, ..page };
        self.0.open.borrow_mut().insert(id, Entry { page, repeats, served: 0, ended: None });
        self.count(|tally| tally.sent += 1);
        page
    }

    /// A server has the head of a request.
    pub fn serve(&self, server: usize, page: Page) {
        self.0.trace.line(format_args!("server {server} has {}", page.id));
        let mut open = self.0.open.borrow_mut();
        // Of requests that ended for their client long ago nothing is kept.
        let Some(entry) = open.get_mut(&page.id) else { return };
        entry.served += 1;
        if entry.repeats == Repeats::Forbidden && entry.served > 1 {
            self.find(format!(
                "request {} must not be repeated, and came to servers {} times",
                page.id, entry.served
            ));
        }
    }

    /// The client of a request is done with it.
    pub fn end(&self, id: u64, ended: Ended) {
        self.0.trace.line(format_args!("client of {id}: {ended:?}"));
        let mut open = self.0.open.borrow_mut();
        match open.get_mut(&id) {
            Some(entry) if entry.ended.is_none() => entry.ended = Some(ended),
            Some(_) => self.find(format!("request {id} ended twice")),
            None => self.find(format!("request {id} was never sent, and has an end")),
        }
        let entry = open.get(&id).copied();
        drop(open);
        if let Some(entry) = entry {
            self.judge(entry, ended);
        }
    }

    fn judge(&self, Entry { page, repeats, served, .. }: Entry, ended: Ended) {
        let id = page.id;
        let how = format!(
            "{:?}, {} bytes, {}",
            page.manner,
            page.size,
            if repeats == Repeats::Allowed { "GET" } else { "POST" }
        );
        if page.manner == Manner::Early
            && repeats == Repeats::Forbidden
            && !matches!(ended, Ended::Answered { status: 200 | 503 })
        {
            self.count(|tally| tally.early_lost += 1);
            return;
        }
        match ended {
            Ended::Answered { status: 200 | 500 } => {
                self.count(|tally| tally.served += 1);
                if served == 0 {
                    self.find(format!("request {id} has a server's answer, and came to no server"));
                }
            }
            Ended::Answered { status: 503 } => self.count(|tally| tally.refused += 1),
            Ended::Answered { status } => {
                self.count(|tally| tally.failed += 1);
                if self.0.blameless {
                    self.find(format!(
                        "request {id} ({how}) was answered {status}, with healthy servers and network"
                    ));
                }
            }
            Ended::Broken => {
                self.count(|tally| tally.broken += 1);
                if self.0.blameless {
                    self.find(format!(
                        "request {id} ({how}) was broken off, with healthy servers and network"
                    ));
                }
            }
            Ended::Unanswered { reused } => {
                self.count(|tally| tally.unanswered += 1);
                if self.0.blameless && !reused && served > 0 {
                    self.find(format!("request {id} ({how}) came to a server, and its client got nothing"));
                }
            }
            Ended::Left => self.count(|tally| tally.left += 1),
        }
    }

    /// Notes what must not be.
    pub fn find(&self, what: String) {
        self.0.trace.line(format_args!("FINDING {what}"));
        self.0.findings.borrow_mut().push(Finding(what));
    }

    /// Checks what holds when all clients have gone: each request has ended.
    pub fn close(&self) {
        let open = self.0.open.borrow();
        for (id, _) in open.iter().filter(|(_, entry)| entry.ended.is_none()) {
            self.find(format!("request {id} has no end"));
        }
    }

    /// Forgets requests that have ended and whose servers must be done as well.
    pub fn forget_before(&self, id: u64) {
        let mut open = self.0.open.borrow_mut();
        let ended = open.range(..id).filter(|(_, entry)| entry.ended.is_some());
        for id in ended.map(|(id, _)| *id).collect::<Vec<_>>() {
            open.remove(&id);
        }
    }

    /// The number of the request that is sent next.
    pub fn next(&self) -> u64 {
        self.0.next.get()
    }

    /// What does not add up so far.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.findings.borrow().clone()
    }

    /// How many requests ended how.
    pub fn tally(&self) -> RequestCounts {
        self.0.tally.get()
    }

    fn count(&self, count: impl FnOnce(&mut RequestCounts)) {
        let mut tally = self.0.tally.get();
        count(&mut tally);
        self.0.tally.set(tally);
    }
}
