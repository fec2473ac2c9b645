//! [`Group`]: all processes that serve one address, and the connections that wait for one of them.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use handoff::deferring::Deferred;
use handoff::keeper::Keeper;
use handoff::memory;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::crowd::Crowd;
use super::process::{Left, Process};

/// All processes that serve one address. Of several groups none has to wait for another's processes.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) address: SocketAddr,
    pub(super) left: Left,
    processes: RefCell<Vec<Rc<Process>>>,
    /// Listeners by their cookies (`SO_COOKIE`, socket(7)): with `SO_REUSEPORT` there are several of an address.
    listeners: RefCell<Vec<Accepting>>,
    next: Cell<usize>,
    /// Connections that wait until a process wants one.
    waiting: Cell<usize>,
    willing: Notify,
    pub(super) crowd: Crowd,
    /// Told when processes may have begun to accept connections themselves, or no longer do.
    pub(super) turned: Notify,
}

/// A listener whose connections are accepted.
#[derive(Debug)]
pub(super) struct Accepting {
    pub(super) cookie: u64,
    pub(super) task: JoinHandle<()>,
    /// Until then its connections come with their first bytes.
    pub(super) _deferred: Option<Deferred>,
}

impl Group {
    pub(super) fn new(address: SocketAddr, keeper: Option<&'static Keeper>) -> io::Result<Self> {
        Ok(Self {
            address,
            left: Left::make(address.port(), keeper)?,
            processes: RefCell::default(),
            listeners: RefCell::default(),
            next: Cell::new(0),
            waiting: Cell::new(0),
            willing: Notify::new(),
            crowd: Crowd::default(),
            turned: Notify::new(),
        })
    }

    /// Whether connections of this listener are accepted.
    pub(super) fn has_listener(&self, cookie: u64) -> bool {
        self.listeners.borrow().iter().any(|listener| listener.cookie == cookie)
    }

    pub(super) fn add_listener(&self, listener: Accepting) {
        self.listeners.borrow_mut().push(listener);
    }

    pub(super) fn join(&self, process: Rc<Process>) {
        self.processes.borrow_mut().push(process);
        self.willing.notify_waiters();
    }

    /// A process is gone. Without any, connections are left in the kernel's queue.
    pub(super) fn leave(&self, process: &Process) {
        let mut processes = self.processes.borrow_mut();
        processes.retain(|other| other.number != process.number);
        if processes.is_empty() {
            self.stop_accepting();
        }
        self.turned.notify_waiters();
    }

    /// Whether a process accepts the connections of this listener itself.
    pub(super) fn is_served(&self, listener: u64) -> bool {
        let accepts = |process: &Rc<Process>| process.listener == listener && process.words().accepts();
        self.processes.borrow().iter().any(accepts)
    }

    /// Connections are left in the kernel's queue.
    pub(super) fn stop_accepting(&self) {
        self.listeners.borrow_mut().drain(..).for_each(|listener| listener.task.abort());
    }

    /// What it has a process for, by the process's number in the system.
    pub(super) fn process(&self, pid: i32) -> Option<Rc<Process>> {
        self.processes.borrow().iter().find(|process| process.pid == pid).cloned()
    }

    pub(super) fn number_of_processes(&self) -> usize {
        self.processes.borrow().len()
    }

    /// Whether this is so of what any of its processes say.
    pub(super) fn is_any_process(&self, is: impl Fn(&memory::Process) -> bool) -> bool {
        self.processes.borrow().iter().any(|process| is(process.words()))
    }

    /// Whether there are connections that no process wants.
    pub(super) fn is_hungry(&self) -> bool {
        self.waiting.get() > 0
    }

    /// A process may want a connection by now.
    pub(super) fn look(&self) {
        if self.is_hungry() {
            self.willing.notify_waiters();
        }
    }

    /// Whether something is on its way to a process.
    pub(super) fn has_queued(&self) -> bool {
        self.processes.borrow().iter().any(|process| process.has_queued())
    }

    /// Processes whose threads wait for one connection each, and that have not taken all that they were given.
    pub(super) fn of_threads_with_queued(&self) -> Vec<Rc<Process>> {
        let is_one = |process: &&Rc<Process>| {
            process.has_queued() && process.words().has_many() && process.words().serves_alone()
        };
        self.processes.borrow().iter().filter(is_one).map(Rc::clone).collect()
    }

    /// Processes that take nothing of what they were given, while others wait for something. `hungry` is called with
    /// for how long one has.
    pub(super) fn held_up(
        &self,
        is_any_alone: impl FnOnce() -> bool,
        hungry: impl FnOnce(Duration),
    ) -> Vec<Rc<Process>> {
        let (processes, now) = (self.processes.borrow(), Instant::now());
        let (spans, held_up): (Vec<_>, Vec<_>) = processes
            .iter()
            .filter_map(|process| Some((process.held_up_for(now)?, Rc::clone(process))))
            .unzip();
        if let Some(longest) = spans.into_iter().max() {
            hungry(longest);
        }
        let is_any_idle = || processes.iter().any(|process| process.is_willing() && !process.has_queued());
        if !held_up.is_empty() && (is_any_idle() || is_any_alone()) { held_up } else { Vec::new() }
    }

    /// While connections wait for a process, that one wants none may be an error of the memory's.
    pub(super) fn recount(&self) {
        if self.is_hungry() {
            self.processes.borrow().iter().for_each(|process| process.poke());
        }
    }

    /// Gives something to a process that wants it, in turn; whether one did.
    pub(super) fn give(&self, give: impl Fn(&Rc<Process>) -> bool) -> bool {
        let processes = self.processes.borrow();
        let number = processes.len();
        // What a process had in its caches that serves one at a time it has still there when it is the one that is given the next.
        let serve_many = processes.first().is_some_and(|process| process.words().has_many());
        let first = if serve_many { self.next.get() } else { 0 };
        let willing = (0..number).map(|step| (first + step) % number);
        let willing = willing.filter(|at| processes[*at].is_willing());
        // Those that have taken all that they were given come first.
        let busy = |at: &usize| processes[*at].has_queued();
        let mut in_order = willing.clone().filter(|at| !busy(at)).chain(willing.filter(busy));
        let taken = in_order.find(|at| give(&processes[*at]));
        if let Some(at) = taken {
            self.next.set((at + 1) % number);
            // Others may be had by those that wait besides.
            self.look();
        }
        taken.is_some()
    }

    /// Gives something by `give` as soon as it can be given; `hungry` is called when it has to wait, and again and again with how long it has.
    pub(super) async fn give_when_wanted(&self, give: impl Fn() -> bool, hungry: impl Fn(Duration)) {
        let began = Instant::now();
        // Those that wait already come first.
        let mut is_its_turn = !self.is_hungry();
        loop {
            if is_its_turn && give() {
                return;
            }
            self.waiting.set(self.waiting.get() + 1);
            let _waits = Waits(&self.waiting);
            let willing = self.willing.notified();
            hungry(began.elapsed());
            // One may have come to want it before it could be told that there is something.
            if is_its_turn && give() {
                return;
            }
            let mut willing = pin!(willing);
            while timeout(Crowd::SOON, willing.as_mut()).await.is_err() {
                hungry(began.elapsed());
            }
            is_its_turn = true;
        }
    }
}

/// One that waits, whatever becomes of it.
struct Waits<'a>(&'a Cell<usize>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
