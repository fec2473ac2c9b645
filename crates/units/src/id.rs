//! Ids: small numbers that name a thing and carry nothing else.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A class of service, as an index into the configured classes: 0 is the most important.
    ClassId(u8)
}
id! {
    /// One request, unique while a driver runs.
    RequestId(u64)
}
id! {
    /// One user session.
    SessionId(u64)
}

impl ClassId {
    /// The class as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
