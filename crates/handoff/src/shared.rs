//! [`Shared`]: the memory, made.

extern crate std;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::ptr::null_mut;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use crate::memory::Memory;

/// The memory that a gate shares with the processes of a server, and the file that it is mapped from.
#[derive(Debug)]
pub struct Shared {
    memory: &'static Memory,
    file: OwnedFd,
}

impl Shared {
    /// Makes it, of zeros. It stays mapped for as long as the process runs.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn make() -> io::Result<Self> {
        let file = memfd_create("headworks-attach", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size_of::<Memory>() as u64)?;
        // Who has it mapped never finds less of it.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        #[allow(
            unsafe_code,
            reason = "memory that others change as well: it is atomic words only, and never unmapped"
        )]
        // SAFETY: a fresh mapping as large as the file, which no process can make smaller; zeros are a value of each word.
        let memory = unsafe {
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            let mapped = mmap(null_mut(), size_of::<Memory>(), flags, MapFlags::SHARED, &file, 0)?;
            &*mapped.cast::<Memory>()
        };
        memory.begin();
        Ok(Self { memory, file })
    }

    /// All of it.
    pub fn memory(&self) -> &'static Memory {
        self.memory
    }

    /// What processes map.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
