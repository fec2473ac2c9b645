//! What is known of descriptors, by their numbers.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

use handoff::response::{Request, Response};

/// Descriptors with higher numbers are never more than the C library's.
pub(crate) const DESCRIPTORS: usize = 65_536;

/// What a descriptor is, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Anything.
    Other = 0,
    /// A connection that the gate knows of.
    Client = 1,
    /// A listener that was adopted.
    Listener = 2,
    /// A listener that the gate does not serve.
    Foreign = 3,
}

/// What goes on on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// It is kept, without a request.
    Idle = 0,
    /// A request has its place.
    Busy = 1,
    /// A request waits for its place.
    Parked = 2,
    /// There will be no further request: the gate has ended it, or is gone.
    Ended = 3,
    /// The gate has it again, and waits for its next request: to the server it is at its end.
    GivenBack = 4,
}

/// What is known of where a connection is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Registration {
    /// Nothing, or that it is nowhere.
    None = 0,
    /// It is about to be.
    Begins = 1,
    /// The epoll instance has it: who waits for that has the connection as long as nothing has come on it.
    Done = 2,
}

/// A descriptor. As zeros it is one of which nothing is known.
pub(crate) struct Entry {
    kind: AtomicU8,
    /// Of a listener or a connection: whether its user waits, as far as its user has said. Others that have the same socket
    /// change its flags, and so does the gate.
    blocking: AtomicU8,
    phase: AtomicU8,
    /// Whether it was looked at, and is something else than a listener.
    pub(crate) is_none: AtomicBool,
    /// Whether the server has armed it with its epoll instance since its request was parked (`EPOLLONESHOT`).
    pub(crate) is_armed: AtomicU8,
    /// Whether what has come on it makes it this process's alone: by it its client is authenticated, or the server has read more than the request at hand.
    pub(crate) is_bound: AtomicBool,
    /// The listener that it is, or that a connection came from.
    pub(crate) listener: AtomicU8,
    pub(crate) slot: AtomicU32,
    /// Of the listener, when the connection came.
    pub(crate) generation: AtomicU32,
    /// Bytes of the line to be inserted that were sent.
    pub(crate) line_sent: AtomicU16,
    /// Where it is registered; one more than its number, 0 where it is not.
    pub(crate) epoll: AtomicI32,
    registration: AtomicU8,
    /// The thread that is about to have another socket at its number (pthread_self(3)); 0 without one.
    pub(crate) replacing: AtomicUsize,
    /// Whether a thread reads from it, of which nothing is known yet.
    pub(crate) is_read: AtomicBool,
    /// The thread that has read from it last (pthread_self(3)).
    pub(crate) reader: AtomicUsize,
    pub(crate) events: AtomicU32,
    pub(crate) data: AtomicU64,
    /// Of an epoll instance the adopted listeners in it, a bit each.
    pub(crate) listeners: AtomicU64,
    /// Of an epoll instance the listeners, a bit each, of which there have been connections in it.
    pub(crate) of_listeners: AtomicU64,
    /// Of an epoll instance what the gate had asked for when it was looked at last.
    pub(crate) crowd: AtomicU32,
    response: UnsafeCell<Response>,
    request: UnsafeCell<Request>,
}

static TABLE: AtomicPtr<Entry> = AtomicPtr::new(null_mut());

/// Makes the table; again in vain where there is one.
pub(crate) fn make() {
    let size = DESCRIPTORS * size_of::<Entry>();
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: fresh memory, of which no other code knows.
    let table = unsafe { libc::mmap(null_mut(), size, protection, flags, -1, 0) };
    if table != libc::MAP_FAILED {
        let _ = TABLE.compare_exchange(null_mut(), table.cast(), Ordering::AcqRel, Ordering::Acquire);
    }
}

/// A page that says 1, and in a child 0 (madvise(2), `MADV_WIPEONFORK`).
static OWN: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// Makes that page; without it the process is asked for its number again and again.
pub(crate) fn make_own() {
    const PAGE: usize = 4096;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: fresh memory, of which no other code knows.
    unsafe {
        let page = libc::mmap(null_mut(), PAGE, protection, flags, -1, 0);
        if page == libc::MAP_FAILED || libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) != 0 {
            return;
        }
        OWN.store(page.cast(), Ordering::Release);
    }
    is_own();
}

/// Whether this process has said before that the page is its own; nothing without a page. It says so now.
pub(crate) fn is_own() -> Option<bool> {
    let page = OWN.load(Ordering::Acquire);
    // SAFETY: it was made whole, and is never given back.
    (!page.is_null())
        .then(|| unsafe { (*page).load(Ordering::Relaxed) != 0 || (*page).swap(1, Ordering::AcqRel) != 0 })
}

/// Forgets what a child has no part in.
pub(crate) fn forget() {
    for fd in 0..DESCRIPTORS as c_int {
        if let Some(entry) = entry(fd) {
            if entry.kind() != Kind::Other {
                entry.set_kind(Kind::Other);
            }
            entry.forget_that_it_is_none();
            if entry.listeners.load(Ordering::Relaxed) != 0 {
                entry.listeners.store(0, Ordering::Relaxed);
            }
            entry.forget_connections();
            if entry.replacing.load(Ordering::Relaxed) != 0 {
                entry.replacing.store(0, Ordering::Relaxed);
            }
        }
    }
}

/// What is known of a descriptor.
pub(crate) fn entry(fd: c_int) -> Option<&'static Entry> {
    let index = usize::try_from(fd).ok().filter(|index| *index < DESCRIPTORS)?;
    let table = TABLE.load(Ordering::Relaxed);
    // SAFETY: the table has so many entries, whose fields are atomic, and is never given back.
    (!table.is_null()).then(|| unsafe { &*table.add(index) })
}

/// What is known of a connection that the gate knows of.
pub(crate) fn client(fd: c_int) -> Option<&'static Entry> {
    entry(fd).filter(|entry| entry.kind() == Kind::Client)
}

/// No connection has had a higher number.
static HIGHEST: AtomicI32 = AtomicI32::new(0);

/// A connection has this number.
pub(crate) fn is_client(fd: c_int) {
    if HIGHEST.load(Ordering::Relaxed) < fd {
        HIGHEST.fetch_max(fd, Ordering::AcqRel);
    }
}

/// Connections have lower numbers.
pub(crate) fn number_of_clients() -> c_int {
    HIGHEST.load(Ordering::Acquire) + 1
}

/// All connections that are known, with their numbers.
pub(crate) fn clients() -> impl Iterator<Item = (c_int, &'static Entry)> {
    let all = (0..number_of_clients()).filter_map(|fd| Some((fd, entry(fd)?)));
    all.filter(|(_, entry)| entry.kind() == Kind::Client)
}

impl Entry {
    pub(crate) fn kind(&self) -> Kind {
        match self.kind.load(Ordering::Acquire) {
            1 => Kind::Client,
            2 => Kind::Listener,
            3 => Kind::Foreign,
            _ => Kind::Other,
        }
    }

    pub(crate) fn set_kind(&self, kind: Kind) {
        self.kind.store(kind as u8, Ordering::Release);
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Idle,
            1 => Phase::Busy,
            2 => Phase::Parked,
            4 => Phase::GivenBack,
            _ => Phase::Ended,
        }
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// From one phase to another; whether it was in the first.
    pub(crate) fn change(&self, from: Phase, to: Phase) -> bool {
        self.phase.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The user of a listener or a connection says whether it waits.
    pub(crate) fn set_blocking(&self, blocks: bool) {
        self.blocking.store(1 + u8::from(blocks), Ordering::Relaxed);
    }

    /// Whether it does; nothing where it has not said so.
    pub(crate) fn blocks(&self) -> Option<bool> {
        match self.blocking.load(Ordering::Relaxed) {
            0 => None,
            said => Some(said == 2),
        }
    }

    /// It may be a listener by now.
    pub(crate) fn forget_that_it_is_none(&self) {
        if self.is_none.load(Ordering::Relaxed) {
            self.is_none.store(false, Ordering::Relaxed);
        }
    }

    /// There is another descriptor of this number.
    pub(crate) fn forget_blocking(&self) {
        self.blocking.store(0, Ordering::Relaxed);
    }

    /// The response to the request at hand.
    ///
    /// # Safety
    /// Only by who reads from or writes to the connection: of these a server has one at a time.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn response(&self) -> &mut Response {
        // SAFETY: as the caller says.
        unsafe { &mut *self.response.get() }
    }

    /// The request at hand.
    ///
    /// # Safety
    /// Only by who reads from the connection: of these a server has one at a time.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn request(&self) -> &mut Request {
        // SAFETY: as the caller says.
        unsafe { &mut *self.request.get() }
    }

    /// What is known of where it is registered.
    pub(crate) fn registration(&self) -> Registration {
        match self.registration.load(Ordering::Acquire) {
            1 => Registration::Begins,
            2 => Registration::Done,
            _ => Registration::None,
        }
    }

    pub(crate) fn set_registration(&self, registration: Registration) {
        self.registration.store(registration as u8, Ordering::Release);
    }

    /// Of an epoll instance: there is another one of this number.
    pub(crate) fn forget_connections(&self) {
        if self.of_listeners.load(Ordering::Relaxed) != 0 {
            self.of_listeners.store(0, Ordering::Relaxed);
            self.crowd.store(0, Ordering::Relaxed);
        }
    }

    /// It was about to be registered, and is; nothing where it is not any more.
    pub(crate) fn is_registered(&self) {
        let (begins, done) = (Registration::Begins as u8, Registration::Done as u8);
        let _ = self.registration.compare_exchange(begins, done, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The epoll instance that it is registered with.
    pub(crate) fn registered(&self) -> Option<c_int> {
        let epoll = self.epoll.load(Ordering::Acquire);
        (epoll > 0).then_some(epoll - 1)
    }
}
