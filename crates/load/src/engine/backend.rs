//! [`Backend`]: which way to the kernel is taken.

use crate::names::names;

/// The way to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// io_uring where the kernel has it and allows it, else epoll.
    #[default]
    Auto,
    /// io_uring, or nothing.
    IoUring,
    /// epoll.
    Epoll,
}

names!(Backend: Backend::Auto => "auto", Backend::IoUring => "io_uring", Backend::Epoll => "epoll");
