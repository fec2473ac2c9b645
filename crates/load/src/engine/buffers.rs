//! [`Buffers`]: memory that the kernel fills with what arrives, and hands over by number.
//!
//! A ring of provided buffers (`io_uring_register_buf_ring(3)`): sockets that wait hold no
//! memory, so ten thousand of them cost nothing.
#![allow(unsafe_code, reason = "the kernel shares this memory, and says so in pointers")]

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The group of buffers that receives name.
pub(super) const GROUP: u16 = 0;

/// A power of two: the most that the kernel is ever given.
const COUNT: u16 = 1024;
const SIZE: usize = 32 * 1024;

/// From the beginning of one buffer to that of the next. Not a power of two, or the beginnings of
/// all, which are what small responses touch, would share a few lines of the processor's caches.
const STRIDE: usize = SIZE + 23 * 64;

/// Given to the kernel at first. It takes them in turn, so the fewer there are, the more likely
/// each is still in the cache.
const FIRST: u16 = 64;

#[derive(Debug)]
pub(super) struct Buffers {
    entries: Memory,
    data: Memory,
    /// The kernel takes buffers up to here.
    tail: u16,
    /// How many are in use; the others have never been touched.
    used: u16,
}

impl Buffers {
    /// Memory for [`register`](Self::register).
    pub(super) fn new() -> io::Result<Self> {
        let entries = Memory::new(usize::from(COUNT) * size_of::<BufRingEntry>())?;
        Ok(Self { entries, data: Memory::new(usize::from(COUNT) * STRIDE)?, tail: 0, used: 0 })
    }

    /// Gives the first buffers to the kernel.
    pub(super) fn register(&mut self, kernel: &Submitter<'_>) -> io::Result<()> {
        let address = self.entries.start.as_ptr() as u64;
        // SAFETY: the memory holds COUNT entries, is aligned to a page and is unmapped only after
        // the ring was closed (`Ring` drops its fields in order).
        unsafe { kernel.register_buf_ring_with_flags(address, COUNT, GROUP, 0)? };
        self.add(FIRST);
        self.publish();
        Ok(())
    }

    /// There were not enough: gives the kernel as many again, as long as there are any.
    pub(super) fn grow(&mut self) {
        self.add(self.used);
    }

    fn add(&mut self, more: u16) {
        let used = self.used;
        self.used = used.saturating_add(more).min(COUNT);
        (used..self.used).for_each(|buffer| self.give_back(buffer));
    }

    /// What the kernel put into `buffer`, from `start` on.
    pub(super) fn filled(&self, buffer: u16, start: u32, length: u32) -> &[u8] {
        let start = start as usize;
        let length = (length as usize).min(SIZE.saturating_sub(start));
        let offset = usize::from(buffer % COUNT) * STRIDE + start.min(SIZE);
        // SAFETY: within `data`, by the two bounds above; the kernel does not write to a buffer
        // that it has handed over until it is given back, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.data.start.as_ptr().cast::<u8>().add(offset), length) }
    }

    /// Offers `buffer` again, from the next [`publish`](Self::publish) on.
    pub(super) fn give_back(&mut self, buffer: u16) {
        let slot = usize::from(self.tail & (COUNT - 1));
        // SAFETY: both indices are below COUNT; the kernel reads an entry only once the tail has
        // passed it.
        unsafe {
            let address = self.data.start.as_ptr().cast::<u8>().add(usize::from(buffer % COUNT) * STRIDE);
            let entry = &mut *self.entries.start.as_ptr().cast::<BufRingEntry>().add(slot);
            entry.set_addr(address as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see the buffers that were given back.
    pub(super) fn publish(&self) {
        // SAFETY: the tail lies in the first entry (struct io_uring_buf_ring), is aligned, and is
        // only read by the kernel.
        let tail = unsafe {
            let tail = BufRingEntry::tail(self.entries.start.as_ptr().cast::<BufRingEntry>());
            AtomicU16::from_ptr(tail.cast_mut())
        };
        tail.store(self.tail, Ordering::Release);
    }
}

/// Pages of our own.
#[derive(Debug)]
struct Memory {
    start: NonNull<c_void>,
    length: usize,
}

impl Memory {
    fn new(length: usize) -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping touches no memory of anyone.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` and by no other code; slices of it have ended with `&self`.
        let _ = unsafe { munmap(self.start.as_ptr(), self.length) };
    }
}
