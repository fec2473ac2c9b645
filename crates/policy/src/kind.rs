//! [`Kind`]: what requests that cost the server about the same have in common.

/// What is asked for, as a number. Which number does not matter; another kind most likely has another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Kind(pub u64);

impl Kind {
    /// What a method and a target have in common with others: parts of the path that have a digit in
    /// them are taken for names of things, so that `/orders/17` and `/orders/18` are of one kind. What
    /// follows a `?` does not count.
    pub fn of(method: &str, target: &str) -> Self {
        let path = target.split('?').next().unwrap_or_default();
        let mut hash = Fnv::default();
        hash.add(method.bytes());
        for part in path.split('/') {
            hash.add(core::iter::once(b'/'));
            if !part.bytes().any(|byte| byte.is_ascii_digit()) {
                hash.add(part.bytes());
            }
        }
        Self(hash.0)
    }
}

/// FNV-1a (RFC 9923). A client that finds two paths of one number has made one kind of two, which does no harm.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: impl Iterator<Item = u8>) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_things_do_not_make_kinds() {
        let order = Kind::of("GET", "/orders/17");
        assert_eq!(order, Kind::of("GET", "/orders/18?page=2"));
        let others = ["/orders/", "/orders", "/orders/17/lines", "/users/17", "/", "", "*"];
        for other in others {
            // An order's name is as good as none.
            assert_eq!(order == Kind::of("GET", other), other == "/orders/", "{other}");
        }
        assert_ne!(order, Kind::of("HEAD", "/orders/17"));
    }
}
