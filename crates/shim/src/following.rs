//! Doing what the gate says, for as long as it is there.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use handoff::message::{Address, ToServer};

use crate::attaching::Answer;
use crate::channel;
use crate::channel::Received;
use crate::clock::now_seconds;
use crate::connections;
use crate::descriptors;
use crate::listener;
use crate::listener::{Changing, Listener};
use crate::next;

/// When a gate was asked that does not serve a listener: only another one is asked again.
const NOT_OURS: i64 = i64::MAX;

impl Listener {
    /// The gate is gone: whatever waits for it goes on, and the server accepts for itself.
    fn fail_open(&self, index: usize) {
        // Another thread, or what a signal has interrupted, changes it; that the gate is gone is seen again.
        let Some(changing) = Changing::try_begin() else { return };
        let control = self.control.swap(-1, Ordering::AcqRel);
        if control < 0 {
            return;
        }
        self.drop_channel(control);
        self.is_calm.store(false, Ordering::Release);
        self.take_out_real();
        self.open();
        drop(changing);
        connections::abandon(index);
    }

    /// Whether it was looked within this second whether there is a gate; now and then not.
    pub(crate) fn has_just_tried(&self) -> bool {
        const SELDOM: u32 = 64;
        let is_time = self.accepted.fetch_add(1, Ordering::Relaxed).is_multiple_of(SELDOM);
        !is_time && self.tried.load(Ordering::Acquire) >= now_seconds()
    }

    /// Asks for a gate again, at most once a second, or when something was made where it listens, or one may have answered.
    pub(crate) fn try_again(&self) {
        let mut bytes = [0u8; 1024];
        let notify = self.notify.load(Ordering::Acquire);
        let mut is_new = false;
        // SAFETY: there is room for as much as is said.
        while unsafe { next::read(notify, bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {
            is_new = true;
        }
        let now = now_seconds();
        let is_asked = self.asked.load(Ordering::Acquire) >= 0;
        let tried = self.tried.load(Ordering::Acquire);
        if !is_new && !is_asked && (tried == now || tried == NOT_OURS) {
            return;
        }
        self.tried.store(now, Ordering::Release);
        let _changing = Changing::begin();
        if !self.is_open() {
            return;
        }
        match self.ask(is_new) {
            Answer::Attached => {}
            Answer::NotOurs => return self.tried.store(NOT_OURS, Ordering::Release),
            Answer::NoGate => return,
        }
        self.take_out_real();
        self.notify.store(-1, Ordering::Release);
        self.drop_channel(notify);
        self.connections.store(0, Ordering::Release);
    }

    /// Does what the gate says; whether it is still there.
    pub(crate) fn obey(&self, index: usize) -> bool {
        loop {
            let control = self.control.load(Ordering::Acquire);
            if control < 0 {
                return false;
            }
            match channel::receive(control, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC) {
                Received::Message(ToServer::Go { slot }, _) => connections::go(index, slot),
                Received::Message(..) | Received::Unknown => {}
                Received::Nothing => return true,
                Received::Closed => {
                    self.fail_open(index);
                    return false;
                }
            }
        }
    }

    /// The next connection from the gate, closed by exec if `flags` of accept4(2) say so; nothing where it has not sent one.
    pub(crate) fn take(&self, index: usize, flags: c_int) -> Option<(c_int, Address)> {
        let taken = self.take_from(&self.inbox, index, flags);
        // While there is a gate it has left nothing.
        let of_last = || self.take_from(&self.left, index, flags);
        let taken = if taken.is_none() && self.is_open() { of_last() } else { taken };
        taken.or_else(|| self.take_from(&self.left_before, index, flags))
    }

    fn take_from(&self, from: &AtomicI32, index: usize, flags: c_int) -> Option<(c_int, Address)> {
        let is_closed_by_exec = if flags & libc::SOCK_CLOEXEC != 0 { libc::MSG_CMSG_CLOEXEC } else { 0 };
        let is_inbox = core::ptr::eq(from, &self.inbox);
        loop {
            let channel = from.load(Ordering::Acquire);
            if channel < 0 {
                return None;
            }
            let received = channel::receive(channel, libc::MSG_DONTWAIT | is_closed_by_exec);
            let is_connection = matches!(received, Received::Message(ToServer::Connection { .. }, _));
            if let Some(process) = self.of_process().filter(|_| is_inbox && is_connection) {
                process.received();
                // Of its other listeners who serves one at a time wants none either.
                if !process.has_many() {
                    listener::all().for_each(Listener::stop_wanting);
                }
            }
            match received {
                Received::Message(ToServer::Connection { slot, is_opaque, client }, [fd, ..]) if fd >= 0 => {
                    let words = self.mapped().filter(|_| is_inbox);
                    if let Some(slot) = words.and_then(|memory| memory.slots.get(slot as usize)) {
                        slot.set_taken(true);
                    }
                    // What a gate has left, the next one knows nothing of: it is one like any other.
                    if is_inbox && !connections::begin(fd, index, self, (slot, is_opaque)) {
                        connections::lost(self, (slot, is_opaque));
                    }
                    descriptors::given(fd);
                    return Some((fd, client));
                }
                // There was one a moment ago; the next connections wait until there is one again.
                Received::Message(ToServer::Connection { slot, is_opaque, .. }, _) => {
                    descriptors::are_used_up();
                    if is_inbox {
                        connections::lost(self, (slot, is_opaque));
                    }
                    return None;
                }
                Received::Message(..) | Received::Unknown => {}
                Received::Nothing => return None,
                Received::Closed => {
                    if from.compare_exchange(channel, -1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                        self.drop_channel(channel);
                    }
                    if is_inbox {
                        self.fail_open(index);
                    }
                    return None;
                }
            }
        }
    }
}
