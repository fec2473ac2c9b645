//! Functions of a binary, and where in each a probe costs least.
//!
//! The kernel puts a breakpoint in place of an instruction. Some instructions it then does itself; any other it lets
//! the processor do alone, which ends with a second exception (arch/x86/kernel/uprobes.c). In a virtual machine that one
//! may go to the host: 10 us instead of 1 us have been measured. So the probe goes to the first instruction of the
//! function that the kernel does itself, as long as the arguments are still where they were.

use std::fs;
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register};
use object::{Architecture, Object, ObjectSegment as _, ObjectSymbol as _};

/// A binary.
pub(crate) type Binary<'data> = object::File<'data>;

/// No program or library is larger, in bytes.
const LARGEST: u64 = 1 << 30;

/// What [`Binary`] is of; none when it cannot be read. It is read as a whole: of most files there is less than a
/// megabyte, and of symbols every one is looked at.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let is_fitting = fs::metadata(path).ok()?.len() <= LARGEST;
    is_fitting.then(|| fs::read(path).ok()).flatten()
}

/// Where functions have their first arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// System V ABI.
    OfC,
    /// ABIInternal.
    OfGo,
}

impl Arguments {
    /// Of three of them.
    fn registers(self) -> [Register; 3] {
        match self {
            Self::OfC => [Register::RDI, Register::RSI, Register::RDX],
            Self::OfGo => [Register::RAX, Register::RBX, Register::RCX],
        }
    }
}

/// What is looked at of a function, in bytes.
const BEGINNING: u64 = 64;

/// Where functions with these names, which are in the binary itself, begin in memory.
pub(crate) fn functions<const N: usize>(binary: &Binary<'_>, names: [&str; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    for symbol in binary.dynamic_symbols().chain(binary.symbols()) {
        let name = symbol.name().ok().filter(|_| symbol.is_definition());
        let place = name.and_then(|name| names.iter().position(|looked_for| *looked_for == name));
        if let Some(place) = place {
            found[place].get_or_insert(symbol.address());
        }
    }
    found
}

/// Code from an address on, and how far from the beginning of the file it is.
pub(crate) fn code<'data>(binary: &Binary<'data>, address: u64, length: u64) -> Option<(&'data [u8], u64)> {
    let segment = binary
        .segments()
        .find(|segment| (segment.address()..segment.address() + segment.file_range().1).contains(&address))?;
    let left = segment.address() + segment.file_range().1 - address;
    let code = segment.data_range(address, length.min(left)).ok()??;
    Some((code, address - segment.address() + segment.file_range().0))
}

/// Where a probe goes on the function that begins at this address in memory, in bytes from the beginning of the file;
/// none when it is not in the file.
pub(crate) fn place(binary: &Binary<'_>, address: u64, arguments: Arguments) -> Option<u64> {
    let (code, begins) = code(binary, address, BEGINNING)?;
    let is_known = binary.architecture() == Architecture::X86_64;
    Some(begins + if is_known { cheapest(code, arguments) } else { 0 })
}

/// The same of a function of a file, by its name.
pub(crate) fn place_in(path: &Path, name: &str) -> Option<u64> {
    let bytes = read(path)?;
    let binary = Binary::parse(&*bytes).ok()?;
    let [function] = functions(&binary, [name]);
    place(&binary, function?, Arguments::OfC)
}

/// How far from its beginning; 0 where no place is cheaper.
fn cheapest(code: &[u8], arguments: Arguments) -> u64 {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut about = InstructionInfoFactory::new();
    while decoder.can_decode() {
        let at = decoder.position();
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            break;
        }
        if is_emulated(&code[at..]) {
            return at as u64;
        }
        let changes = about.info(&instruction).used_registers().iter().any(|used| {
            let is_read = matches!(used.access(), OpAccess::Read | OpAccess::CondRead);
            !is_read && arguments.registers().contains(&used.register().full_register())
        });
        if changes || instruction.flow_control() != FlowControl::Next {
            break;
        }
    }
    0
}

/// Whether the kernel does an instruction itself: `push`, `nop` of a byte, relative jumps and calls
/// (arch/x86/kernel/uprobes.c, `push_setup_xol_ops` and `branch_setup_xol_ops`).
fn is_emulated(code: &[u8]) -> bool {
    matches!(
        code,
        [0x50..=0x57 | 0x70..=0x7f | 0x90 | 0xe8 | 0xe9 | 0xeb, ..]
            | [0x41, 0x50..=0x57, ..]
            | [0x0f, 0x80..=0x8f, ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_goes_where_the_kernel_does_the_instruction_itself() {
        let of_c = |code: &[u8]| cheapest(code, Arguments::OfC);
        // push rbx
        assert_eq!(of_c(&[0x53, 0xc3]), 0);
        // endbr64; push r12
        assert_eq!(of_c(&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54]), 4);
        // sub rsp, 24; mov rax, fs:40; mov [rsp+8], rax; xor eax, eax; test edx, edx; js
        let canary = [
            &[0x48, 0x83, 0xec, 0x18, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0][..],
            &[0x48, 0x89, 0x44, 0x24, 0x08, 0x31, 0xc0, 0x85, 0xd2, 0x78, 0x2f],
        ];
        assert_eq!(of_c(&canary.concat()), 22);
        // cmp rsp, [r14+16]; jbe
        let of_go = [0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0xa3, 0, 0, 0];
        assert_eq!(cheapest(&of_go, Arguments::OfGo), 4);
    }

    #[test]
    fn arguments_are_still_there() {
        // mov edi, eax; push rbx
        assert_eq!(cheapest(&[0x89, 0xc7, 0x53], Arguments::OfC), 0);
        // xor eax, eax; push rbx
        assert_eq!(cheapest(&[0x31, 0xc0, 0x53], Arguments::OfGo), 0);
        // sub rsp, 8; ret; push rbx; and what is cut off
        assert_eq!(cheapest(&[0x48, 0x83, 0xec, 0x08, 0xc3, 0x53], Arguments::OfC), 0);
        assert_eq!(cheapest(&[0x48, 0x83], Arguments::OfC), 0);
        assert_eq!(cheapest(&[], Arguments::OfC), 0);
    }
}
