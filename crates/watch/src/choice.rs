//! Which mechanism gives a group's figures on this machine, and why not a better one.

use std::fmt;

use crate::{Error, Source};

/// How a group's figures come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// A program in the kernel.
    Ebpf,
    /// Files of `/proc`.
    Proc,
}

impl Mechanism {
    /// Its name in tables and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ebpf => "eBPF",
            Self::Proc => "/proc",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A group's source: a program in the kernel where that is possible, `/proc` otherwise.
pub struct Chosen<S> {
    source: Box<dyn Source<Sample = S>>,
    mechanism: Mechanism,
    refused: Option<Error>,
}

impl<S> Chosen<S> {
    /// The program, or what stands in for it.
    pub fn of<T, P>(traced: Result<T, Error>, proc: impl FnOnce() -> P) -> Self
    where
        T: Source<Sample = S> + 'static,
        P: Source<Sample = S> + 'static,
    {
        match traced {
            Ok(traced) => Self { source: Box::new(traced), mechanism: Mechanism::Ebpf, refused: None },
            Err(why) => Self { source: Box::new(proc()), mechanism: Mechanism::Proc, refused: Some(why) },
        }
    }

    /// What there is no program for.
    pub fn only<P: Source<Sample = S> + 'static>(proc: P) -> Self {
        Self { source: Box::new(proc), mechanism: Mechanism::Proc, refused: None }
    }

    /// How its figures come about.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// Why it is not a program in the kernel.
    pub fn refused(&self) -> Option<&Error> {
        self.refused.as_ref()
    }
}

impl<S> Source for Chosen<S> {
    type Sample = S;

    fn sample(&mut self) -> Result<S, Error> {
        self.source.sample()
    }
}
