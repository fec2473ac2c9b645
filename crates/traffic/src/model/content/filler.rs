//! [`Filler`]: the bytes of a file.

use std::io::{self, Read};

use crate::model::Object;

/// The bytes of `object`, from the first to the last.
pub fn bytes_of(object: &Object) -> Filler {
    Filler { key: fnv1a(object.url.bytes()), position: 0, end: object.length }
}

/// The bytes of a file, made as they are read; reading never fails. The same on every machine
/// and in every version, since the files can be older than the program.
///
/// ```
/// use std::io::Read;
/// use traffic::model::{Model, content::bytes_of};
/// let model = Model::named("webstone2".parse()?, 1);
/// let object = &model.objects()[0];
/// let mut body = Vec::new();
/// bytes_of(object).read_to_end(&mut body)?;
/// assert_eq!(body.len() as u64, object.length);
/// let mut expected = bytes_of(object);
/// assert!(body.chunks(100).all(|received| expected.agrees(received)) && expected.left() == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Filler {
    key: u64,
    position: u64,
    end: u64,
}

impl Filler {
    /// Whether the file goes on with `received`, the next part of what came over the network or
    /// from the disk; afterwards the filler stands behind that part.
    pub fn agrees(&mut self, mut received: &[u8]) -> bool {
        let mut expected = [0; 4096];
        while !received.is_empty() {
            let part = received.len().min(expected.len());
            let filled = self.fill(&mut expected[..part]);
            if filled < part || expected[..part] != received[..part] {
                return false;
            }
            received = &received[part..];
        }
        true
    }

    /// Bytes that are still to come.
    pub fn left(&self) -> u64 {
        self.end - self.position
    }

    /// Fills the front of `buffer` and says how much of it; less than all only at the end.
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let filled = usize::try_from(self.left()).unwrap_or(usize::MAX).min(buffer.len());
        let mut rest = &mut buffer[..filled];
        while !rest.is_empty() {
            let word = splitmix64(self.key.wrapping_add(self.position / 8)).to_le_bytes();
            let skip = (self.position % 8) as usize;
            let part = (8 - skip).min(rest.len());
            rest[..part].copy_from_slice(&word[skip..skip + part]);
            self.position += part as u64;
            rest = &mut rest[part..];
        }
        filled
    }
}

impl Read for Filler {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.fill(buffer))
    }
}

/// The hash of Fowler, Noll and Vo, 64 bits, variant 1a.
pub(super) fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The n-th number of Steele, Lea and Flood's SplitMix generator (OOPSLA 2014), for any n.
fn splitmix64(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(length: u64) -> Object {
        Object { url: "/surge/00/0001.bin".into(), length, group: "body".into() }
    }

    fn all(object: &Object) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes_of(object).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn files_are_the_same_for_ever() {
        assert_eq!(all(&object(12)), [170, 130, 196, 212, 32, 15, 169, 28, 170, 65, 187, 58]);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8, "published test vector");
        assert_eq!(splitmix64(1), 0xe220_a839_7b1d_cdaf, "first output of SplitMix64 seeded with 0");
    }

    #[test]
    fn it_does_not_matter_in_which_parts_a_file_is_read() {
        let whole = all(&object(1000));
        assert_eq!(whole.len(), 1000);
        for part in [1, 3, 8, 13, 999] {
            let mut filler = bytes_of(&object(1000));
            assert!(whole.chunks(part).all(|chunk| filler.agrees(chunk)), "parts of {part}");
            assert_eq!(filler.left(), 0);
        }
    }

    #[test]
    fn a_wrong_byte_and_a_byte_too_many_are_noticed() {
        let mut whole = all(&object(9000));
        assert!(bytes_of(&object(9000)).agrees(&whole));
        assert!(!bytes_of(&object(8999)).agrees(&whole));
        whole[8500] ^= 1;
        assert!(!bytes_of(&object(9000)).agrees(&whole));
    }

    #[test]
    fn bytes_are_spread_evenly() {
        let mut counts = [0; 256];
        for byte in all(&object(256_000)) {
            counts[usize::from(byte)] += 1;
        }
        let chi_square = stats::goodness::chi_square(counts.map(|count| (count, 1000.0)));
        assert!(chi_square < 330.5, "{chi_square} at 255 degrees of freedom");
    }
}
