//! Messages on the channels between the gate and a process of the server, one datum of `SOCK_SEQPACKET` each; descriptors
//! go beside them (`SCM_RIGHTS`, unix(7)).

use core::net::SocketAddr;

/// Of all that is laid out in this crate. Who hears of another has nothing to do with them.
pub const VERSION: u16 = 5;

/// No message is longer.
pub const MAX_LENGTH: usize = FIELDS + MAX_ADDRESS;
const FIELDS: usize = 8;
/// The longest address of a client, as the kernel has it (`struct sockaddr_in6`).
pub const MAX_ADDRESS: usize = 28;

/// Of the threads of a process that wait for one connection each, so many can be woken at a time.
pub const WAKERS: usize = 16;

/// Behind the path of the gate's socket: where what is left of one that was killed listens.
pub const LEFT: &str = ".left";

/// A client's address, as accept(2) gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// `struct sockaddr_in`, or `sockaddr_in6`, and zeros.
    pub bytes: [u8; MAX_ADDRESS],
    /// How many of them there are.
    pub length: u8,
}

/// What a process of the server tells the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToGate {
    /// A process uses a listener, which goes beside this.
    Hello {
        /// [`VERSION`] of the process.
        version: u16,
    },
    /// A request on a kept connection, whose socket goes beside this, has to wait.
    Park {
        /// The connection.
        slot: u32,
    },
    /// Something is to be read in the shared memory.
    Wake,
    /// A client's connection, which goes beside this, that the process has accepted itself, and whose first request is not its to
    /// begin.
    Accepted,
    /// Beside this goes the end of a socket by which a thread is woken that waits for the next request of one connection.
    Waker {
        /// Which of the process's [`WAKERS`] it is.
        number: u16,
    },
    /// A kept connection, which goes beside this: the process takes another in its place, or its next request has to wait.
    Kept {
        /// The connection; its slot is the gate's again.
        slot: u32,
    },
}

/// What the gate tells a process of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToServer {
    /// The answer to [`ToGate::Hello`]: beside this go the shared memory, the inbox of the process, and what all processes of
    /// the listener receive connections from that waited in a gate when it was killed.
    Attached {
        /// Which of [`Memory::processes`](crate::memory::Memory::processes) it is.
        process: u16,
    },
    /// The answer to [`ToGate::Hello`] with a listener that the gate does not serve, or another version.
    NotYours,
    /// A client's connection, which goes beside this, with a request that has its place.
    Connection {
        /// Which of [`Memory::slots`](crate::memory::Memory::slots) it is.
        slot: u32,
        /// Whether what is spoken on it is not followed: TLS, or HTTP/2.
        is_opaque: bool,
        /// Whose it is.
        client: Address,
    },
    /// The answer to [`ToGate::Hello`] of what is left of a gate that was killed: beside this goes what connections that waited
    /// in it are received from.
    Left,
    /// The state of a connection that was parked is another now.
    Go {
        /// The connection.
        slot: u32,
    },
}

impl Address {
    /// As the kernel has it (ip(7), ipv6(7)).
    pub fn of(client: SocketAddr) -> Self {
        const FAMILIES: [u16; 2] = [2, 10];
        let mut bytes = [0; MAX_ADDRESS];
        bytes[2..4].copy_from_slice(&client.port().to_be_bytes());
        let (family, length) = match client {
            SocketAddr::V4(client) => {
                bytes[4..8].copy_from_slice(&client.ip().octets());
                (FAMILIES[0], 16)
            }
            SocketAddr::V6(client) => {
                bytes[4..8].copy_from_slice(&client.flowinfo().to_ne_bytes());
                bytes[8..24].copy_from_slice(&client.ip().octets());
                bytes[24..28].copy_from_slice(&client.scope_id().to_ne_bytes());
                (FAMILIES[1], 28)
            }
        };
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
        Self { bytes, length }
    }
}

impl Address {
    /// Nothing where its family is another than the internet's.
    pub fn socket(&self) -> Option<SocketAddr> {
        let port = u16::from_be_bytes([self.bytes[2], self.bytes[3]]);
        match (u16::from_ne_bytes([self.bytes[0], self.bytes[1]]), self.length) {
            (2, 16) => {
                let octets: [u8; 4] = self.bytes[4..8].try_into().ok()?;
                Some(SocketAddr::from((octets, port)))
            }
            (10, 28) => {
                let octets: [u8; 16] = self.bytes[8..24].try_into().ok()?;
                Some(SocketAddr::from((octets, port)))
            }
            _ => None,
        }
    }
}

impl ToGate {
    /// As bytes.
    pub fn to_bytes(self) -> [u8; MAX_LENGTH] {
        match self {
            Self::Hello { version } => bytes(b'H', 0, version, 0),
            Self::Park { slot } => bytes(b'P', 0, 0, slot),
            Self::Wake => bytes(b'W', 0, 0, 0),
            Self::Accepted => bytes(b'A', 0, 0, 0),
            Self::Waker { number } => bytes(b'T', 0, number, 0),
            Self::Kept { slot } => bytes(b'K', 0, 0, slot),
        }
    }

    /// From bytes; nothing of what is not a message.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, _, number, slot) = fields(bytes)?;
        match kind {
            b'H' => Some(Self::Hello { version: number }),
            b'P' => Some(Self::Park { slot }),
            b'W' => Some(Self::Wake),
            b'A' => Some(Self::Accepted),
            b'T' => Some(Self::Waker { number }),
            b'K' => Some(Self::Kept { slot }),
            _ => None,
        }
    }
}

impl ToServer {
    /// As bytes.
    pub fn to_bytes(self) -> [u8; MAX_LENGTH] {
        match self {
            Self::Attached { process } => bytes(b'A', 0, process, 0),
            Self::NotYours => bytes(b'N', 0, 0, 0),
            Self::Left => bytes(b'L', 0, 0, 0),
            Self::Connection { slot, is_opaque, client } => {
                let mut all = bytes(b'C', is_opaque.into(), client.length.into(), slot);
                all[FIELDS..].copy_from_slice(&client.bytes);
                all
            }
            Self::Go { slot } => bytes(b'G', 0, 0, slot),
        }
    }

    /// From bytes; nothing of what is not a message.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, flag, number, slot) = fields(bytes)?;
        match kind {
            b'A' => Some(Self::Attached { process: number }),
            b'N' => Some(Self::NotYours),
            b'L' => Some(Self::Left),
            b'C' => {
                let client = Address {
                    bytes: bytes[FIELDS..].try_into().ok()?,
                    length: u8::try_from(number).ok().filter(|length| usize::from(*length) <= MAX_ADDRESS)?,
                };
                Some(Self::Connection { slot, is_opaque: flag != 0, client })
            }
            b'G' => Some(Self::Go { slot }),
            _ => None,
        }
    }
}

fn bytes(kind: u8, flag: u8, number: u16, slot: u32) -> [u8; MAX_LENGTH] {
    let ([a, b], [c, d, e, f]) = (number.to_ne_bytes(), slot.to_ne_bytes());
    let mut bytes = [0; MAX_LENGTH];
    bytes[..FIELDS].copy_from_slice(&[kind, flag, a, b, c, d, e, f]);
    bytes
}

fn fields(bytes: &[u8]) -> Option<(u8, u8, u16, u32)> {
    let bytes = <&[u8; MAX_LENGTH]>::try_from(bytes).ok()?;
    let [kind, flag, a, b, c, d, e, f] = *bytes.first_chunk()?;
    Some((kind, flag, u16::from_ne_bytes([a, b]), u32::from_ne_bytes([c, d, e, f])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        for message in [
            ToGate::Hello { version: 7 },
            ToGate::Park { slot: 70_000 },
            ToGate::Wake,
            ToGate::Accepted,
            ToGate::Waker { number: 15 },
            ToGate::Kept { slot: 3 },
        ] {
            assert_eq!(ToGate::read(&message.to_bytes()), Some(message));
        }
        for message in [
            ToServer::Attached { process: 900 },
            ToServer::NotYours,
            ToServer::Left,
            ToServer::Connection {
                slot: 65_535,
                is_opaque: true,
                client: Address { bytes: [0; MAX_ADDRESS], length: 0 },
            },
            ToServer::Connection {
                slot: 1,
                is_opaque: false,
                client: Address { bytes: [7; MAX_ADDRESS], length: 28 },
            },
            ToServer::Go { slot: 9 },
        ] {
            assert_eq!(ToServer::read(&message.to_bytes()), Some(message));
        }
        for text in ["127.0.0.1:80", "[2001:db8::7]:65535"] {
            let client: SocketAddr = text.parse().unwrap();
            assert_eq!(Address::of(client).socket(), Some(client));
        }
        assert_eq!(Address { bytes: [7; MAX_ADDRESS], length: 28 }.socket(), None);
        assert_eq!(ToGate::read(b"H"), None);
        assert_eq!(ToServer::read(&[b'Z'; MAX_LENGTH]), None);
    }
}
