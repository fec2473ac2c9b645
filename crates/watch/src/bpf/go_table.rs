//! [`GoTable`]: the functions of a program that is written in Go.
//!
//! A binary of Go has a table of its functions for its own runtime (`src/runtime/symtab.go`), also when it has been
//! stripped of its symbols.

use object::{Object as _, ObjectSection as _};

use super::code::Binary;

/// The names of the section, without and with position-independent code.
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// What the table begins with: since Go 1.18 and since Go 1.20, which have the same header.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Longer names are not read.
const LONGEST: usize = 1024;

/// The table (`type pcHeader`).
pub(crate) struct GoTable<'data> {
    bytes: &'data [u8],
    /// Where code begins, if the table does not say.
    text: u64,
}

impl<'data> GoTable<'data> {
    /// That of a binary; none when it is not written in Go.
    pub(crate) fn of(binary: &Binary<'data>) -> Option<Self> {
        let section = SECTIONS.iter().find_map(|name| binary.section_by_name(name))?;
        Some(Self { bytes: section.data().ok()?, text: binary.section_by_name(".text")?.address() })
    }

    fn word(&self, at: u64) -> Option<u32> {
        let at = usize::try_from(at).ok()?;
        Some(u32::from_le_bytes(self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn long(&self, at: u64) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        Some(u64::from_le_bytes(self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    /// Where a function begins in memory.
    pub(crate) fn address_of(&self, name: &str) -> Option<u64> {
        let head = self.head()?;
        let name = self.place_of(head.names, name)?;
        self.entries(&head).find(|(_, place)| *place == name).map(|(address, _)| address)
    }

    /// All functions: where each begins, and its name.
    pub(crate) fn functions(&self) -> Vec<(u64, &'data str)> {
        let Some(head) = self.head() else { return Vec::new() };
        let name = |place: u32| {
            let from = usize::try_from(head.names.checked_add(u64::from(place))?).ok()?;
            let rest = self.bytes.get(from..)?;
            let length = rest.iter().take(LONGEST).position(|byte| *byte == 0)?;
            std::str::from_utf8(&rest[..length]).ok()
        };
        self.entries(&head).filter_map(|(address, place)| Some((address, name(place)?))).collect()
    }

    fn head(&self) -> Option<Head> {
        let pointer = self.bytes.get(7)?;
        if !MAGICS.contains(&self.word(0)?) || *pointer != 8 {
            return None;
        }
        // Since Go 1.26 it is not there.
        let text = Some(self.long(24)?).filter(|text| *text != 0).unwrap_or(self.text);
        let functions = self.long(8)?.min(self.bytes.len() as u64);
        Some(Head { functions, text, names: self.long(32)?, table: self.long(64)? })
    }

    /// Where each function begins, and where its name is.
    fn entries(&self, head: &Head) -> impl Iterator<Item = (u64, u32)> {
        let Head { functions, text, table, .. } = *head;
        (0..functions).map_while(move |number| {
            let entry = table.checked_add(8 * number)?;
            let function = table.checked_add(u64::from(self.word(entry.checked_add(4)?)?))?;
            Some((text.checked_add(u64::from(self.word(entry)?))?, self.word(function.checked_add(4)?)?))
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

/// What the table says of itself.
struct Head {
    /// How many there are.
    functions: u64,
    /// Where code begins.
    text: u64,
    /// Where names and entries are, from the beginning of the table.
    names: u64,
    table: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "crypto/tls.(*Conn).Write";

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
        let bytes = table(0x1000, &["main.main", "crypto/tls.(*Conn).WriteAll", NAME]);
        assert_eq!(GoTable { bytes: &bytes, text: 1 }.address_of(NAME), Some(0x1040));
        assert_eq!(GoTable { bytes: &bytes, text: 1 }.address_of("crypto/tls"), None);
        let all = GoTable { bytes: &bytes, text: 1 }.functions();
        assert_eq!(all, [(0x1000, "main.main"), (0x1020, "crypto/tls.(*Conn).WriteAll"), (0x1040, NAME)]);
        let without = table(0, &["main.main", NAME]);
        assert_eq!(GoTable { bytes: &without, text: 0x2000 }.address_of(NAME), Some(0x2020));
    }

    #[test]
    fn what_is_cut_off_or_something_else_has_no_functions() {
        let bytes = table(0x1000, &["main.main", NAME]);
        for length in 0..bytes.len() - 16 {
            let cut = GoTable { bytes: &bytes[..length], text: 0 };
            let _ = (cut.address_of(NAME), cut.functions());
        }
        for word in (8..72).step_by(8) {
            let mut absurd = bytes.clone();
            absurd[word..word + 8].fill(0xff);
            let absurd = GoTable { bytes: &absurd, text: u64::MAX };
            let _ = (absurd.address_of(NAME), absurd.functions());
        }
        assert_eq!(GoTable { bytes: b"\xfb\xff\xff\xff\0\0\x01\x08", text: 0 }.address_of(NAME), None);
    }
}
