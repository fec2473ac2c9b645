//! Asking the gate for a channel, and doing without.

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use handoff::memory::Memory;
use handoff::message::{LEFT, ToGate, ToServer, VERSION};
use libc::socklen_t;

use crate::channel;
use crate::channel::Received;
use crate::clock::now_seconds;
use crate::listener::{Listener, high};
use crate::next;

/// What came of asking the gate.
pub(crate) enum Answer {
    Attached,
    NotOurs,
    NoGate,
}

impl Listener {
    /// Asks the gate for a channel, `anew` where another one may listen by now. A gate that takes its time is not waited for a second time:
    /// its answer wakes the server, which accepts for itself until then.
    pub(crate) fn ask(&self, anew: bool) -> Answer {
        let earlier = self.asked.load(Ordering::Acquire);
        if anew && earlier >= 0 {
            self.asked.store(-1, Ordering::Release);
            self.drop_channel(earlier);
        }
        let earlier = self.asked.load(Ordering::Acquire);
        let (control, answer) = if earlier >= 0 {
            (earlier, channel::receive(earlier, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC))
        } else {
            self.question()
        };
        match answer {
            Received::Nothing if earlier >= 0 => return Answer::NoGate,
            Received::Nothing => {
                let kept = high(control);
                self.register(kept);
                self.asked.store(kept, Ordering::Release);
            }
            _ if earlier >= 0 => self.asked.store(-1, Ordering::Release),
            _ => {}
        }
        let attached = match answer {
            Received::Message(ToServer::Attached { process }, beside) => {
                self.attach(control, process, beside)
            }
            Received::Message(ToServer::NotYours, _) => Answer::NotOurs,
            _ => Answer::NoGate,
        };
        if earlier >= 0 {
            self.drop_channel(control);
        } else if control >= 0 {
            // SAFETY: it is this library's own.
            unsafe { next::close(control) };
        }
        attached
    }

    /// What the gate says within a second, and where it may say it later.
    fn question(&self) -> (c_int, Received) {
        let control = channel::connect("");
        if control < 0 {
            return (control, Received::Closed);
        }
        wait_at_most(control);
        let real = self.real.load(Ordering::Acquire);
        let is_told = channel::send(control, ToGate::Hello { version: VERSION }, real);
        let received = || channel::receive(control, libc::MSG_CMSG_CLOEXEC);
        (control, if is_told { received() } else { Received::Closed })
    }

    /// The gate has answered at `control`, of which a copy is kept.
    fn attach(&self, control: c_int, process: u16, beside: [c_int; 3]) -> Answer {
        let [memory, inbox, left] = beside;
        let close = |fd: c_int| {
            // SAFETY: it is this library's own.
            unsafe { next::close(fd) };
        };
        let channels = [control, inbox, left].map(high);
        // A process that has no descriptors left does without a gate.
        let mapped = if channels.contains(&-1) { None } else { map(memory) };
        beside.into_iter().for_each(close);
        let Some(mapped) = mapped else {
            channels.into_iter().for_each(close);
            return Answer::NoGate;
        };
        for fd in channels {
            // SAFETY: a number only.
            unsafe { next::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK.into()) };
        }
        // What waited in a gate that was killed may still be coming.
        let before = self.left.swap(channels[2], Ordering::AcqRel);
        let earlier = self.left_before.swap(before, Ordering::AcqRel);
        if earlier >= 0 {
            self.drop_channel(earlier);
        }
        self.register(channels[1]);
        // Who waits in accept(2) would wait there for a connection that does not come, when it is told of something else.
        if !self.blocks.load(Ordering::Acquire) {
            self.register(channels[0]);
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.is_calm.store(false, Ordering::Release);
        self.memory.store(mapped, Ordering::Release);
        self.process.store(process, Ordering::Release);
        let before = self.inbox.swap(channels[1], Ordering::AcqRel);
        if before >= 0 {
            // What the gate before had sent there it has taken back, or was taken.
            self.drop_channel(before);
        }
        self.control.store(channels[0], Ordering::Release);
        Answer::Attached
    }

    /// A process that begins without a gate may have connections of one that was killed, if there are any.
    fn ask_for_what_is_left(&self) {
        if self.left.load(Ordering::Acquire) >= 0 {
            return;
        }
        let channel = channel::connect(LEFT);
        if channel < 0 {
            return;
        }
        wait_at_most(channel);
        let real = self.real.load(Ordering::Acquire);
        if channel::send(channel, ToGate::Hello { version: VERSION }, real)
            && let Received::Message(ToServer::Left, [left, ..]) =
                channel::receive(channel, libc::MSG_CMSG_CLOEXEC)
            && left >= 0
        {
            let copy = high(left);
            // SAFETY: it is this library's own.
            unsafe { next::close(left) };
            self.left.store(copy, Ordering::Release);
        }
        // SAFETY: it is this library's own.
        unsafe { next::close(channel) };
    }

    /// Lets the server accept for itself, until there is a gate again.
    pub(crate) fn open(&self) {
        self.put_in_real();
        let mut directory = [0u8; 108];
        channel::directory(&mut directory);
        // SAFETY: the path ends with a zero.
        let notify = unsafe {
            let notify = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
            let what = libc::IN_CREATE | libc::IN_ATTRIB | libc::IN_MOVED_TO;
            libc::inotify_add_watch(notify, directory.as_ptr().cast(), what);
            let copy = high(notify);
            next::close(notify);
            copy
        };
        self.register(notify);
        self.notify.store(notify, Ordering::Release);
        self.ask_for_what_is_left();
        // All processes have it, and an instance within another may wait for what only so many others wait for (`path_limits` of the
        // kernel's fs/eventpoll.c). While there is a gate nothing is in it.
        let left = self.left.load(Ordering::Acquire);
        if left >= 0 {
            self.register(left);
        }
        self.tried.store(now_seconds(), Ordering::Release);
    }
}

/// Has receiving from a channel end after a while.
fn wait_at_most(channel: c_int) {
    static PATIENCE: libc::timeval = libc::timeval { tv_sec: 1, tv_usec: 0 };
    let patience = (&raw const PATIENCE).cast::<c_void>();
    let length = size_of::<libc::timeval>() as socklen_t;
    // SAFETY: it is as long as is said.
    unsafe { next::setsockopt(channel, libc::SOL_SOCKET, libc::SO_RCVTIMEO, patience, length) };
}

/// The shared memory, if it is that.
fn map(fd: c_int) -> Option<*mut Memory> {
    // SAFETY: a fresh mapping of memory that no process can make shorter (it is sealed), which is looked at only as atomic words.
    unsafe {
        let mut about: libc::stat = core::mem::zeroed();
        let is_whole = libc::fstat(fd, &raw mut about) == 0 && about.st_size as usize >= size_of::<Memory>();
        let is_sealed = next::fcntl(fd, libc::F_GET_SEALS, 0) & libc::F_SEAL_SHRINK != 0;
        if !is_whole || !is_sealed {
            return None;
        }
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let mapped = libc::mmap(null_mut(), size_of::<Memory>(), protection, flags, fd, 0);
        let mapped: *mut Memory = (mapped != libc::MAP_FAILED).then_some(mapped)?.cast();
        (*mapped).is_ours().then_some(mapped)
    }
}
