//! What the kernel keeps of the name of a process.

/// Bytes of its name that the kernel keeps of a process.
pub(crate) const MAX_NAME: usize = 15;

/// What the kernel keeps of a name.
pub(crate) fn kept(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(MAX_NAME)]
}
