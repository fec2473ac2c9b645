//! [`Frames`]: where the frames of a WebSocket end, in what one side sends (RFC 6455 section 5.2).

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// Masks its frames (section 5.1).
    Client,
    /// Does not.
    Server,
}

/// Follows the headers of frames and skips what they carry, in whatever pieces they come. It knows where a frame
/// of the gate's own can go, which is between two others, and between the fragments of a message if it is a
/// control frame (section 5.4).
#[derive(Debug)]
pub(super) struct Frames {
    sender: Sender,
    position: Position,
    has_closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Between two frames.
    Boundary,
    /// The first byte of a header has come.
    Length { first: u8 },
    /// So many bytes of a longer length are to come.
    LongLength { first: u8, wide: bool, left: u8, length: u64 },
    /// So many bytes of the frame are to come.
    Within { left: u64 },
    /// This is not WebSocket.
    Lost,
}

/// Of the first byte: no fragment follows.
const FIN: u8 = 0x80;
/// Of the second byte.
const MASKED: u8 = 0x80;
const MASKING_KEY_BYTES: u64 = 4;
const CLOSE: u8 = 0x8;
/// What a control frame may carry (section 5.5).
const MAX_CONTROL_BYTES: u64 = 125;
/// "The endpoint is going away" (section 7.4.1).
const GOING_AWAY: [u8; 2] = 1001_u16.to_be_bytes();

impl Frames {
    pub(super) fn of(sender: Sender) -> Self {
        Self { sender, position: Position::Boundary, has_closed: false }
    }

    /// Whether a frame can go between what has come and what comes next.
    pub(super) fn is_at_boundary(&self) -> bool {
        self.position == Position::Boundary
    }

    /// Whether what has come cannot be WebSocket, so that nothing is known of it any more.
    pub(super) fn is_lost(&self) -> bool {
        self.position == Position::Lost
    }

    /// Whether a Close frame has come or begun to: the last of what this side has to say.
    pub(super) fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// A Close frame from this side that says that it goes away, to put at a boundary. The key of the mask is
    /// made up anew each time (section 5.3).
    pub(super) fn going_away(&self) -> Vec<u8> {
        let head = FIN | CLOSE;
        match self.sender {
            Sender::Server => vec![head, 2, GOING_AWAY[0], GOING_AWAY[1]],
            Sender::Client => {
                let key = fastrand::u32(..).to_be_bytes();
                let masked = [GOING_AWAY[0] ^ key[0], GOING_AWAY[1] ^ key[1]];
                [&[head, MASKED | 2], &key[..], &masked].concat()
            }
        }
    }

    /// Follows all of `bytes`.
    pub(super) fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let length = self.step(bytes);
            bytes = &bytes[length..];
        }
    }

    /// Follows `bytes` up to the next boundary, and says how many they are; none where it is at one.
    pub(super) fn follow_to_boundary(&mut self, bytes: &[u8]) -> usize {
        let mut length = 0;
        while length < bytes.len() && !self.is_at_boundary() {
            length += self.step(&bytes[length..]);
        }
        length
    }

    /// Follows some of `bytes`, which are not empty: a byte of a header, or what a frame carries.
    fn step(&mut self, bytes: &[u8]) -> usize {
        let byte = bytes[0];
        let mut length = 1;
        self.position = match self.position {
            Position::Boundary => Position::Length { first: byte },
            Position::Length { first } => self.length(first, byte),
            Position::LongLength { first, wide, left, length } => {
                let length = length << 8 | u64::from(byte);
                match left - 1 {
                    0 => self.payload(first, length, if wide { 1 << 16 } else { 126 }),
                    left => Position::LongLength { first, wide, left, length },
                }
            }
            Position::Within { left } => {
                length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                Self::within(left - length as u64)
            }
            Position::Lost => {
                length = bytes.len();
                Position::Lost
            }
        };
        length
    }

    /// After the first two bytes.
    fn length(&mut self, first: u8, second: u8) -> Position {
        if (second & MASKED != 0) != (self.sender == Sender::Client) {
            return Position::Lost;
        }
        let long = |wide, left| Position::LongLength { first, wide, left, length: 0 };
        match second & !MASKED {
            126 => long(false, 2),
            127 => long(true, 8),
            length => self.payload(first, length.into(), 0),
        }
    }

    /// After the length, which has to be the shortest form of itself, `least` or more.
    fn payload(&mut self, first: u8, length: u64, least: u64) -> Position {
        let opcode = first & 0xf;
        // 3 to 7 and 11 to 15 are reserved. Which of the bits RSV1 to 3 an extension uses is not known here.
        let is_known = matches!(opcode, 0..=2 | 8..=10);
        let is_fit_control = first & FIN != 0 && length <= MAX_CONTROL_BYTES;
        if !is_known || length < least || length >> 63 != 0 || (opcode >= CLOSE && !is_fit_control) {
            return Position::Lost;
        }
        self.has_closed |= opcode == CLOSE;
        let key = if self.sender == Sender::Client { MASKING_KEY_BYTES } else { 0 };
        Self::within(length + key)
    }

    fn within(left: u64) -> Position {
        if left == 0 { Position::Boundary } else { Position::Within { left } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A frame as an endpoint writes it.
    #[derive(Debug, Clone)]
    struct Frame {
        first: u8,
        payload: Vec<u8>,
        key: [u8; 4],
    }

    impl Frame {
        fn bytes(&self, sender: Sender) -> Vec<u8> {
            let mask = if sender == Sender::Client { MASKED } else { 0 };
            let length = self.payload.len();
            let mut bytes = vec![self.first];
            match length {
                0..126 => bytes.push(mask | u8::try_from(length).unwrap()),
                126..0x1_0000 => {
                    bytes.push(mask | 126);
                    bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
                }
                _ => {
                    bytes.push(mask | 127);
                    bytes.extend((length as u64).to_be_bytes());
                }
            }
            if sender == Sender::Client {
                bytes.extend(self.key);
            }
            bytes.extend(&self.payload);
            bytes
        }
    }

    fn senders() -> impl Strategy<Value = Sender> {
        prop_oneof![Just(Sender::Client), Just(Sender::Server)]
    }

    /// Data and control frames, fragments and bits of extensions among them.
    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let length = prop_oneof![Just(0_usize), 1_usize..130, 65_500_usize..65_600];
        let data = (any::<bool>(), 0_u8..8, 0_u8..3, length, any::<u8>(), any::<[u8; 4]>()).prop_map(
            |(fin, reserved, opcode, length, byte, key)| Frame {
                first: u8::from(fin) << 7 | reserved << 4 | opcode,
                payload: (0..length).map(|at| byte.wrapping_add(at as u8)).collect(),
                key,
            },
        );
        let control = (9_u8..11, vec(any::<u8>(), 0..126), any::<[u8; 4]>())
            .prop_map(|(opcode, payload, key)| Frame { first: FIN | opcode, payload, key });
        vec(prop_oneof![data, control], 0..6)
    }

    /// Where to cut a stream.
    fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
        vec(any::<prop::sample::Index>(), 0..12)
    }

    fn pieces<'b>(bytes: &'b [u8], cuts: &[prop::sample::Index]) -> Vec<&'b [u8]> {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
    }

    proptest! {
        #[test]
        fn boundaries_are_where_frames_end(sender in senders(), frames in frames(), cuts in cuts()) {
            let mut ends = std::collections::HashSet::from([0]);
            let mut bytes = Vec::new();
            for frame in &frames {
                bytes.extend(frame.bytes(sender));
                ends.insert(bytes.len());
            }
            let mut follower = Frames::of(sender);
            let mut at = 0;
            for piece in pieces(&bytes, &cuts) {
                follower.follow(piece);
                at += piece.len();
                prop_assert_eq!(follower.is_at_boundary(), ends.contains(&at), "after {} bytes", at);
            }
            prop_assert!(!follower.is_lost() && !follower.has_closed());
        }

        #[test]
        fn what_is_under_way_is_followed_to_its_end_and_no_further(
            sender in senders(),
            frames in frames(),
            cuts in cuts(),
            stop in any::<prop::sample::Index>(),
        ) {
            let frames: Vec<Vec<u8>> = frames.iter().map(|frame| frame.bytes(sender)).collect();
            let bytes = frames.concat();
            let stop = stop.index(bytes.len() + 1);
            let mut follower = Frames::of(sender);
            follower.follow(&bytes[..stop]);
            let mut end = 0;
            for frame in &frames {
                if end < stop {
                    end += frame.len();
                }
            }
            let mut passed = stop;
            for piece in pieces(&bytes[stop..], &cuts) {
                passed += follower.follow_to_boundary(piece);
            }
            prop_assert_eq!(passed, end);
        }

        #[test]
        fn anything_at_all_is_followed_alike_in_pieces(
            sender in senders(),
            bytes in vec(any::<u8>(), 0..600),
            cuts in cuts(),
        ) {
            let (mut whole, mut parts) = (Frames::of(sender), Frames::of(sender));
            whole.follow(&bytes);
            pieces(&bytes, &cuts).into_iter().for_each(|piece| parts.follow(piece));
            prop_assert_eq!(whole.position, parts.position);
            prop_assert_eq!(whole.has_closed(), parts.has_closed());
        }
    }

    #[track_caller]
    fn lost(sender: Sender, bytes: &[u8], is_lost: bool) {
        let mut frames = Frames::of(sender);
        frames.follow(bytes);
        assert_eq!(frames.is_lost(), is_lost, "{bytes:?} of the {sender:?}");
        frames.follow(&[0; 200]);
        assert!(!is_lost || frames.is_lost() && !frames.is_at_boundary(), "it stays lost");
    }

    #[test]
    fn what_is_no_websocket_is_known_for_it() {
        let at = |text: &str| text.as_bytes().to_vec();
        for (sender, bytes) in [
            (Sender::Client, at("GET / HTTP/1.1\r\n")),
            (Sender::Server, at("HTTP/1.1 200 OK\r\n")),
            (Sender::Server, vec![0x82, 0x82]),
            (Sender::Client, vec![0x82, 2]),
            // A control frame is whole and short.
            (Sender::Server, vec![0x09, 0]),
            (Sender::Server, vec![0x89, 126, 0, 126]),
            // Reserved.
            (Sender::Server, vec![0x83, 0]),
            (Sender::Server, vec![0x8f, 0]),
            // Longer forms of a length than needed, and a length beyond all.
            (Sender::Server, vec![0x82, 126, 0, 125]),
            (Sender::Server, vec![0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff]),
            (Sender::Server, vec![0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            lost(sender, &bytes, true);
        }
        for bytes in [
            vec![0x82, 126, 0, 126],
            vec![0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0],
            vec![0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            // A compressed message (RFC 7692 section 6).
            vec![0xc1, 3],
        ] {
            lost(Sender::Server, &bytes, false);
        }
        lost(Sender::Client, &[0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], false);
    }

    #[test]
    fn its_own_frame_is_one_and_says_1001() {
        for sender in [Sender::Client, Sender::Server] {
            let mut frames = Frames::of(sender);
            let close = frames.going_away();
            let (key, code) = match sender {
                Sender::Client => (&close[2..6], &close[6..]),
                Sender::Server => (&[0, 0][..], &close[2..]),
            };
            assert_eq!([code[0] ^ key[0], code[1] ^ key[1]], [3, 233]);
            assert!(!frames.has_closed());
            frames.follow(&close);
            assert!(frames.has_closed() && frames.is_at_boundary() && !frames.is_lost());
        }
    }
}
