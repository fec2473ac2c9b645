//! Functions of programs that are written in Go.
//!
//! They are in the table that its runtime has of them.

use crate::bpf::code::{Binary, code};
use crate::bpf::go_table::GoTable;

/// Where functions of `crypto/tls` begin in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Functions {
    /// `func (c *Conn) Write(b []byte) (int, error)`
    pub(super) write: u64,
    /// `func (c *Conn) serverHandshake(ctx context.Context) error`
    pub(super) handshake: u64,
    /// `func (c *Conn) clientHandshake(ctx context.Context) (err error)`
    pub(super) client_handshake: u64,
}

const WRITE: &str = "crypto/tls.(*Conn).Write";
const HANDSHAKE: &str = "crypto/tls.(*Conn).serverHandshake";
const CLIENT_HANDSHAKE: &str = "crypto/tls.(*Conn).clientHandshake";

/// Those of a binary; none when it is not written in Go, has no TLS, or has its table in another form.
pub(super) fn of_binary(binary: &Binary<'_>) -> Option<Functions> {
    let table = GoTable::of(binary)?;
    let at = |name: &str| {
        let address = table.address_of(name)?;
        // What is not known to be a function's beginning would end the program if a probe were put there.
        begins_function(code(binary, address, 16)?.0).then_some(address)
    };
    Some(Functions { write: at(WRITE)?, handshake: at(HANDSHAKE)?, client_handshake: at(CLIENT_HANDSHAKE)? })
}

/// Whether a function of Go begins like this: it looks whether its stack has room
/// (`cmd/internal/obj/x86/obj6.go`, `cmd/internal/obj/arm64/obj7.go`).
fn begins_function(code: &[u8]) -> bool {
    // cmp rsp, [r14+16]; lea r12, [rsp-..]; ldr x16, [x28, #16]
    [
        &[0x49, 0x3b, 0x66, 0x10][..],
        &[0x4c, 0x8d, 0x64, 0x24],
        &[0x4c, 0x8d, 0xa4, 0x24],
        &[0x90, 0x0b, 0x40, 0xf9],
    ]
    .iter()
    .any(|beginning| code.starts_with(beginning))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bpf::code::read;

    #[test]
    fn a_program_of_another_language_has_none() {
        let own = read(Path::new("/proc/self/exe")).unwrap();
        let own = object::File::parse(&*own).unwrap();
        assert_eq!(of_binary(&own), None, "this program is none of Go");
    }
}
