//! [`Layout`]: the kernel's description of its types and variables, and how many processors there are.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Enum, Var};

use crate::error::Error;

/// The section of per-CPU variables in the kernel's image.
const PER_CPU: &str = ".data..percpu";

/// The kernel's description of its types and variables.
pub(crate) struct Layout(Btf<'static>);

impl Layout {
    pub(crate) fn read() -> Result<Self, Error> {
        // The verifier's log is of use to developers only.
        libbpf_rs::set_print(None);
        Btf::from_vmlinux().map(Self).map_err(Error::bpf("reading the kernel's types"))
    }

    /// How far one per-CPU variable is from another, in bytes: the same on each CPU.
    pub(crate) fn distance(&self, from: &'static str, to: &'static str) -> Result<i64, Error> {
        let [from, to] = [self.offset(from)?, self.offset(to)?];
        Ok(i64::from(to) - i64::from(from))
    }

    fn offset(&self, variable: &'static str) -> Result<u32, Error> {
        let mut sections = self.0.type_by_kind::<DataSec<'_>>();
        let section = sections.find(|section| section.name().is_some_and(|name| name == PER_CPU));
        let section = section.ok_or(Error::Unknown("per-CPU variables"))?;
        let is_it = |id| {
            let found: Option<Var<'_>> = self.0.type_by_id(id);
            found.and_then(|found| found.name().map(|name| name == variable)).unwrap_or(false)
        };
        section.iter().find(|entry| is_it(entry.ty)).map(|entry| entry.offset).ok_or(Error::Unknown(variable))
    }

    /// The number of a named constant.
    pub(crate) fn constant(&self, list: &str, name: &'static str) -> Result<u32, Error> {
        let list: Enum<'_> = self.0.type_by_name(list).ok_or(Error::Unknown(name))?;
        let found = list.iter().find(|member| member.name.is_some_and(|found| found == name));
        found.and_then(|member| u32::try_from(member.value).ok()).ok_or(Error::Unknown(name))
    }
}

/// Processors that a program has room for, as in processors.h.
const MAX_CPUS: usize = 512;

/// Processors that there may be.
pub(crate) fn processors() -> Result<u32, Error> {
    let count = libbpf_rs::num_possible_cpus().map_err(Error::bpf("counting processors"))?;
    if count > MAX_CPUS { Err(Error::Processors(count)) } else { Ok(count as u32) }
}
