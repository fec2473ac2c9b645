//! Why something cannot be watched.

use procfs::ProcError;

/// Why something cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel did not take a program, or did not run it.
    #[error("{what}: {why}{}", hint(.why))]
    Bpf {
        /// What was tried.
        what: &'static str,
        /// The kernel's or the library's reason.
        why: libbpf_rs::Error,
    },
    /// The kernel's types do not describe something that a program reads.
    #[error("eBPF: the kernel's type information (BTF) does not describe {0}")]
    Unknown(&'static str),
    /// The machine has more processors than a program has room for.
    #[error("eBPF: {0} processors are more than the programs have room for")]
    Processors(usize),
    /// A file of `/proc` cannot be read.
    #[error("cannot read /proc: {0}")]
    Proc(#[from] ProcError),
}

impl Error {
    pub(crate) fn bpf(what: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |why| Self::Bpf { what, why }
    }
}

/// What may help.
fn hint(why: &libbpf_rs::Error) -> &'static str {
    match why.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => {
            "; run it as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN"
        }
        _ => "",
    }
}
