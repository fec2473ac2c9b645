//! What goes into the policy and what comes out of it.

use units::{ClassId, Ratio, RequestId, SessionId, Span};

use crate::kind::Kind;
use crate::knobs::Knobs;
use crate::waiting_room::visit::{Ticket, Visit};

/// What the driver knows of a request's session when the request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionHint {
    /// No valid token: the class is not known yet.
    New,
    /// No session either; when the request is refused it is told its place in the waiting room of its class.
    Visitor(Visit),
    /// A valid token, and what it says.
    Known(KnownSession),
}

/// What a valid session token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownSession {
    /// Which session.
    pub id: SessionId,
    /// Its class.
    pub class: ClassId,
    /// Since it was last seen, as far as the token says.
    pub idle: Span,
    /// Whether it has raised itself to its class, which the rules did not give it.
    pub is_raised: bool,
}

impl KnownSession {
    /// One that has just been seen, of the class that the rules gave it.
    pub const fn active(id: SessionId, class: ClassId) -> Self {
        Self { id, class, idle: Span::ZERO, is_raised: false }
    }
}

impl SessionHint {
    /// The class, if it is known.
    pub const fn class(self) -> Option<ClassId> {
        match self {
            Self::New | Self::Visitor(_) => None,
            Self::Known(session) => Some(session.class),
        }
    }
}

/// So long the server is silent in a response, or waits for the rest of a request, until it is taken to do nothing for
/// it. A server that writes a page piece by piece is done with the next one sooner.
pub(crate) const PAUSE: Span = Span::from_millis(100);

/// Why the server does nothing for a request that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The rest of the request is still to come.
    Upload,
    /// Its response has begun, and the client does not take what is there.
    Taking,
    /// Its response has begun, and the server is silent.
    Response,
    /// It waits for something to happen before it answers: others have overtaken it, or its kind is known to wait.
    Head {
        /// Which of these.
        overtaken: bool,
    },
}

/// Something that happened, told by the driver. Ids are the driver's and unique while held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Input {
    /// A request was taken over from a client.
    Arrived {
        /// The driver's name for it.
        id: RequestId,
        /// What its session token says.
        session: SessionHint,
        /// Whose it is: any number that is the same for the same client address.
        client: u64,
        /// What it asks for, see [`Kind::of`].
        kind: Kind,
    },
    /// The server has begun a request without being told to, because there was room: it takes its place.
    Begun {
        /// The driver's name for it.
        id: RequestId,
        /// What its session token says.
        session: SessionHint,
        /// Whose it is, as of [`Input::Arrived`].
        client: u64,
        /// What it asks for.
        kind: Kind,
        /// Its class.
        class: ClassId,
    },
    /// The driver has handed over all arrivals of one turn of its loop (up to
    /// [`crate::Limits::burst`]); the policy may now process some of them.
    Cycle,
    /// The answer to [`Output::Classify`].
    Classified {
        /// Which request.
        id: RequestId,
        /// Its class; one that is not configured counts as the least important.
        class: ClassId,
    },
    /// The server is done with a dispatched request, whatever came of it.
    Finished {
        /// Which request.
        id: RequestId,
    },
    /// The server has begun its response, or waits for the rest of the request, and does nothing meanwhile: the
    /// request gives its place back and goes on without one, if there is room for another such.
    Released {
        /// Which request.
        id: RequestId,
        /// For what the server waits.
        pause: Pause,
    },
    /// The server has all of a request that was released before its response: it works, and takes a place.
    Resumed {
        /// Which request.
        id: RequestId,
    },
    /// The client has gone away. A waiting request is forgotten; one inside the server keeps
    /// its place until [`Input::Finished`], because the server goes on with it.
    Aborted {
        /// Which request.
        id: RequestId,
    },
    /// How much of the scarcest resource of the process (descriptors, memory) is in use.
    Pressure(Ratio),
    /// So much of the server is there: of several, some may have failed. A window for all of it
    /// shrinks with it at once, so that the rest does not get the work of those that are gone.
    Capacity(Ratio),
    /// The operator moved a knob.
    Knobs(Knobs),
}

/// What the driver must do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Find the request's class and answer with [`Input::Classified`].
    Classify(RequestId),
    /// Send the request to the server; answer with [`Input::Finished`] when it is done.
    Dispatch(RequestId),
    /// Refuse the request; the policy has forgotten it. A visitor is told its place.
    Reject(RequestId, Reason, Option<Ticket>),
}

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The acceptor queue was full.
    AcceptorFull,
    /// The pending queue was full.
    PendingFull,
    /// Its class is over its share, and was for all the periods it was held back.
    Admission,
    /// The class queues were full.
    QueueFull,
    /// A more important request needed its place.
    Displaced,
    /// It waited in one stage longer than that stage's deadline.
    Deadline,
    /// The process is near its limit of descriptors or memory.
    Pressure,
    /// Its client already holds as many places as one client may.
    ClientShare,
    /// Others who came before it wait.
    WaitingRoom,
}

impl Reason {
    /// All reasons, in the order of [`Reason::index`].
    pub const ALL: [Self; 9] = [
        Self::AcceptorFull,
        Self::PendingFull,
        Self::Admission,
        Self::QueueFull,
        Self::Displaced,
        Self::Deadline,
        Self::Pressure,
        Self::ClientShare,
        Self::WaitingRoom,
    ];

    /// Position in [`Reason::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name used in metrics and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AcceptorFull => "acceptor-full",
            Self::PendingFull => "pending-full",
            Self::Admission => "admission",
            Self::QueueFull => "queue-full",
            Self::Displaced => "displaced",
            Self::Deadline => "deadline",
            Self::Pressure => "pressure",
            Self::ClientShare => "client-share",
            Self::WaitingRoom => "waiting-room",
        }
    }
}
