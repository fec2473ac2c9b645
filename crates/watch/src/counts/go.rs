//! Functions of programs that are written in Go.
//!
//! A binary of Go has a table of its functions for its own runtime (`src/runtime/symtab.go`), also when it has been
//! stripped of its symbols.

use object::{Object as _, ObjectSection as _};

use crate::bpf::code::{Binary, code};

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

/// The names of the section, without and with position-independent code.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// What the table begins with: since Go 1.18 and since Go 1.20, which have the same header.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Those of a binary; none when it is not written in Go, has no TLS, or has its table in another form.
pub(super) fn of_binary(binary: &Binary<'_>) -> Option<Functions> {
    let section = SECTIONS.iter().find_map(|name| binary.section_by_name(name))?;
    let table = Table { bytes: section.data().ok()?, text: binary.section_by_name(".text")?.address() };
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

/// The table (`type pcHeader`).
struct Table<'data> {
    bytes: &'data [u8],
    /// Where code begins, if the table does not say.
    text: u64,
}

impl Table<'_> {
    fn word(&self, at: u64) -> Option<u32> {
        let at = usize::try_from(at).ok()?;
        Some(u32::from_le_bytes(self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn long(&self, at: u64) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        Some(u64::from_le_bytes(self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    /// Where a function begins in memory.
    fn address_of(&self, name: &str) -> Option<u64> {
        let pointer = self.bytes.get(7)?;
        if !MAGICS.contains(&self.word(0)?) || *pointer != 8 {
            return None;
        }
        let (functions, text) = (self.long(8)?, self.long(24)?);
        let (names, table) = (self.long(32)?, self.long(64)?);
        let name = self.place_of(names, name)?;
        (0..functions.min(self.bytes.len() as u64)).find_map(|number| {
            let entry = table.checked_add(8 * number)?;
            let function = table.checked_add(u64::from(self.word(entry.checked_add(4)?)?))?;
            let is_it = self.word(function.checked_add(4)?)? == name;
            // Since Go 1.26 it is not there.
            let text = if text == 0 { self.text } else { text };
            is_it.then_some(())?;
            text.checked_add(u64::from(self.word(entry)?))
        })
    }

    /// Where a name is, from the beginning of all names, each of which ends with a zero.
    fn place_of(&self, names: u64, name: &str) -> Option<u32> {
        let all = self.bytes.get(usize::try_from(names).ok()?..)?;
        let looked_for: Vec<u8> = [&[0], name.as_bytes(), &[0]].concat();
        let at = all.windows(looked_for.len()).position(|some| some == looked_for)?;
        u32::try_from(at + 1).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bpf::code::read;

    /// A table with functions of these names, 32 bytes each.
    fn table(text: u64, names: &[&str]) -> Vec<u8> {
        let mut bytes = vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        let mut of_names = vec![0];
        let places: Vec<u32> = names
            .iter()
            .map(|name| {
                let place = of_names.len() as u32;
                of_names.extend([name.as_bytes(), &[0]].concat());
                place
            })
            .collect();
        let at_names = 72;
        let at_table = at_names + of_names.len() as u64;
        for word in [names.len() as u64, 0, text, at_names, 0, 0, 0, at_table] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(of_names);
        for number in 0..names.len() as u32 {
            bytes.extend((32 * number).to_le_bytes());
            bytes.extend((8 * names.len() as u32 + 8 * number).to_le_bytes());
        }
        for (number, place) in places.into_iter().enumerate() {
            bytes.extend((32 * number as u32).to_le_bytes());
            bytes.extend(place.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_function_is_found_by_its_whole_name() {
        let bytes = table(0x1000, &["main.main", "crypto/tls.(*Conn).WriteAll", WRITE]);
        assert_eq!(Table { bytes: &bytes, text: 1 }.address_of(WRITE), Some(0x1040));
        assert_eq!(Table { bytes: &bytes, text: 1 }.address_of("crypto/tls"), None);
        let without = table(0, &["main.main", WRITE]);
        assert_eq!(Table { bytes: &without, text: 0x2000 }.address_of(WRITE), Some(0x2020));
    }

    #[test]
    fn what_is_cut_off_or_something_else_has_no_functions() {
        let bytes = table(0x1000, &["main.main", WRITE]);
        for length in 0..bytes.len() - 16 {
            let _ = Table { bytes: &bytes[..length], text: 0 }.address_of(WRITE);
        }
        for word in (8..72).step_by(8) {
            let mut absurd = bytes.clone();
            absurd[word..word + 8].fill(0xff);
            let _ = Table { bytes: &absurd, text: u64::MAX }.address_of(WRITE);
        }
        assert_eq!(Table { bytes: b"\xfb\xff\xff\xff\0\0\x01\x08", text: 0 }.address_of(WRITE), None);
        let own = read(Path::new("/proc/self/exe")).unwrap();
        let own = object::File::parse(&*own).unwrap();
        assert_eq!(of_binary(&own), None, "this program is none of Go");
    }
}
