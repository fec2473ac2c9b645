//! Passing bytes both ways until both sides have ended, nothing has moved for too long, or the gate ends.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout};

use crate::tunnel::frames::{Frames, Sender};
use crate::tunnel::pipe::Pipe;
use crate::tunnel::tunnels::Tunnel;

/// Without a byte when one side has ended: most likely it is gone altogether, which shows only
/// when something is sent to it.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Read at once.
const PIECE: usize = 16 * 1024;

/// Why bytes are no longer passed on.
enum Over {
    /// A side is gone, or both have ended, or nothing moves.
    Ended,
    /// The gate ends, and this tunnel within such a time.
    Dismissed(Duration),
}

impl Tunnel {
    /// Passes bytes on until the tunnel ends; `early` is what the client has sent since it asked.
    ///
    /// A side that has sent all goes on receiving. When the gate ends, so does each tunnel in its turn: of a
    /// WebSocket both sides are told so by a Close frame, and may answer; of other protocols nothing is known, and
    /// both see the end of what the other sends.
    ///
    /// `is_told_to_close` says whether the client's connection is to be closed, and wakes the task when it is.
    pub(crate) async fn run(
        self,
        mut is_told_to_close: impl FnMut(&mut Context<'_>) -> bool,
        transport: impl AsyncRead + AsyncWrite,
        early: Vec<u8>,
    ) {
        let is_websocket = self.is_websocket();
        let Self { permit, server, said, idle_timeout, .. } = self;
        let tunnels = &permit.tunnels;
        let frames = |sender| is_websocket.then(|| Frames::of(sender));
        let mut both = Relay {
            client: pin!(transport),
            server: pin!(server),
            there: Pipe::new(early, frames(Sender::Client)),
            back: Pipe::new(said.into(), frames(Sender::Server)),
            passed: &tunnels.passed,
        };
        let over = {
            let mut turn = pin!(tunnels.drain.turn());
            let mut idle = pin!(sleep(idle_timeout));
            let mut before = (0, false);
            poll_fn(|cx| {
                if is_told_to_close(cx) {
                    return Poll::Ready(Over::Ended);
                }
                if let Poll::Ready(farewell) = turn.as_mut().poll(cx) {
                    return Poll::Ready(Over::Dismissed(farewell));
                }
                // What is wrong with either side, the other sees by its end.
                let (Ok(sent), Ok(received)) = both.poll(cx) else { return Poll::Ready(Over::Ended) };
                if sent.is_ready() && received.is_ready() {
                    return Poll::Ready(Over::Ended);
                }
                let state = (both.bytes(), sent.is_ready() || received.is_ready());
                if state != before {
                    before = state;
                    let longest = if state.1 { idle_timeout.min(HALF_CLOSED) } else { idle_timeout };
                    idle.as_mut().reset(Instant::now() + longest);
                }
                idle.as_mut().poll(cx).map(|()| Over::Ended)
            })
            .await
        };
        if let Over::Dismissed(longest) = over {
            // Who does not answer in time is cut off.
            let _ = timeout(longest, both.dismiss(is_told_to_close)).await;
        }
    }
}

/// Both sides, and what passes between them.
struct Relay<'t, C, S> {
    client: Pin<&'t mut C>,
    server: Pin<&'t mut S>,
    there: Pipe,
    back: Pipe,
    /// Bytes from clients and to them, of all tunnels.
    passed: &'t [Cell<u64>; 2],
}

/// Whether one direction is over, or what is wrong with it.
type Direction = io::Result<Poll<()>>;

impl<C: AsyncRead + AsyncWrite, S: AsyncRead + AsyncWrite> Relay<'_, C, S> {
    /// Passes on what there is, in both directions.
    fn poll(&mut self, cx: &mut Context<'_>) -> (Direction, Direction) {
        let mut scratch = [0; PIECE];
        let Self { client, server, there, back, passed } = self;
        let begun = [there.passed(), back.passed()];
        let sent = direction(there.poll(cx, client.as_mut(), server.as_mut(), &mut scratch));
        let received = direction(back.poll(cx, server.as_mut(), client.as_mut(), &mut scratch));
        let now = [there.passed(), back.passed()];
        for ((count, begun), now) in passed.iter().zip(begun).zip(now) {
            count.set(count.get() + now - begun);
        }
        (sent, received)
    }

    /// Bytes passed on, in both directions.
    fn bytes(&self) -> u64 {
        self.there.passed() + self.back.passed()
    }

    /// Tells both sides that this is the end, and waits until each has said its last. One that is gone does not
    /// keep the other from being told.
    async fn dismiss(&mut self, mut is_told_to_close: impl FnMut(&mut Context<'_>) -> bool) {
        self.there.end();
        self.back.end();
        let mut is_over = [false; 2];
        poll_fn(|cx| {
            if is_told_to_close(cx) {
                return Poll::Ready(());
            }
            let (sent, received) = self.poll(cx);
            for (is_over, direction) in is_over.iter_mut().zip([sent, received]) {
                *is_over |= !matches!(direction, Ok(Poll::Pending));
            }
            if is_over == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        // TLS has an end of its own.
        let _ = self.client.shutdown().await;
        let _ = self.server.shutdown().await;
    }
}

fn direction(polled: Poll<io::Result<()>>) -> Direction {
    match polled {
        Poll::Ready(result) => result.map(Poll::Ready),
        Poll::Pending => Ok(Poll::Pending),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use http::HeaderValue;
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};
    use units::Ratio;

    use super::*;
    use crate::runtime::open::Open;
    use crate::tunnel::tunnels::{Asked, Tunnels};

    const CLOSE: [u8; 4] = [0x88, 2, 3, 233];
    const MASKED_CLOSE: [u8; 8] = [0x88, 0x82, 0, 0, 0, 0, 3, 233];

    /// Runs a tunnel, on a clock of its own, beside what its client, its server and the rest do; says for how long.
    fn run<C, S>(
        protocol: &'static str,
        client: impl FnOnce(DuplexStream) -> C,
        server: impl FnOnce(DuplexStream) -> S,
        rest: impl AsyncFnOnce(&Tunnels),
    ) -> (C::Output, S::Output, Duration)
    where
        C: Future,
        S: Future,
    {
        let ((client_end, transport), (server_end, behind)) = (duplex(1 << 20), duplex(1 << 20));
        let tunnels = Rc::<Tunnels>::default();
        let permit = tunnels.enter(1, 1, Ratio::ONE).unwrap();
        let asked = Asked { protocol: HeaderValue::from_static(protocol), permit };
        let open = Open::new(&Rc::new(Cell::new(0)));
        let said = bytes::Bytes::new();
        let tunnel = Tunnel::new(Box::new(behind), said, asked, open, Duration::from_secs(300));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let begun = Instant::now();
            let tunnel = async {
                tunnel.run(|_| false, transport, Vec::new()).await;
                begun.elapsed()
            };
            let (time, client, server, ()) =
                tokio::join!(tunnel, client(client_end), server(server_end), rest(&tunnels));
            (client, server, time)
        })
    }

    /// Ends all tunnels when everybody has done what they do first.
    async fn end(tunnels: &Tunnels) {
        sleep(Duration::from_secs(1)).await;
        tunnels.end(Duration::from_secs(10));
    }

    /// Sends `before` before the gate ends and `after` after that, reads to the end, and gives what it was: a Close frame
    /// is answered with `answer`.
    async fn side(mut stream: DuplexStream, before: Vec<u8>, after: Vec<u8>, answer: &[u8]) -> Vec<u8> {
        stream.write_all(&before).await.unwrap();
        sleep(Duration::from_millis(1500)).await;
        let _ = stream.write_all(&after).await;
        let mut received = Vec::new();
        while stream.read_buf(&mut received).await.unwrap() > 0 {
            if unmasked(&received).ends_with(&CLOSE) {
                let _ = stream.write_all(answer).await;
            }
        }
        received
    }

    /// With what a Close frame of the gate's is without its mask, if there is one at the end.
    fn unmasked(received: &[u8]) -> Vec<u8> {
        match received {
            [before @ .., 0x88, 0x82, a, b, _, _, x, y] => [before, &[0x88, 2, x ^ a, y ^ b]].concat(),
            other => other.to_vec(),
        }
    }

    /// Frames of so many bytes each.
    fn frames(lengths: &[u8], mask: bool) -> Vec<Vec<u8>> {
        let frame = |length: &u8| {
            let key = if mask { vec![1, 2, 3, 4] } else { vec![] };
            let head = vec![0x82, length | u8::from(mask) << 7];
            [head, key, (0..*length).collect()].concat()
        };
        lengths.iter().map(frame).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn both_sides_are_told_where_a_frame_ends(
            lengths in proptest::collection::vec(0_u8..126, 0..4),
            stops in any::<[prop::sample::Index; 2]>(),
        ) {
            let (client, server) = (frames(&lengths, true), frames(&lengths, false));
            let cut = |frames: &[Vec<u8>], stop: prop::sample::Index| {
                let bytes = frames.concat();
                let stop = stop.index(bytes.len() + 1);
                let mut whole = Vec::new();
                for frame in frames {
                    if whole.len() < stop {
                        whole.extend(frame);
                    }
                }
                (bytes[..stop].to_vec(), bytes[stop..].to_vec(), [&whole[..], &CLOSE].concat())
            };
            let (client_before, client_after, to_server) = cut(&client, stops[0]);
            let (server_before, server_after, to_client) = cut(&server, stops[1]);
            let (at_client, at_server, time) = run(
                "websocket",
                |stream| side(stream, client_before, client_after, &MASKED_CLOSE),
                |stream| side(stream, server_before, server_after, &CLOSE),
                end,
            );
            prop_assert_eq!(at_client, to_client);
            prop_assert_eq!(unmasked(&at_server), to_server);
            prop_assert!(time < Duration::from_secs(2), "both answered, and it took {:?}", time);
        }
    }

    #[test]
    fn a_frame_that_does_not_end_and_an_answer_that_does_not_come_are_not_waited_for() {
        let half = vec![0x82, 0x84, 1, 2];
        let (at_client, at_server, time) = run(
            "websocket",
            |stream| side(stream, half.clone(), Vec::new(), &[]),
            |stream| side(stream, Vec::new(), Vec::new(), &CLOSE),
            end,
        );
        assert_eq!((at_client, at_server), (CLOSE.to_vec(), half), "never into a frame");
        assert_eq!(time, Duration::from_secs(3));
    }

    #[test]
    fn what_is_no_websocket_is_ended_without_a_frame() {
        let garbage = b"+PONG\r\n".to_vec();
        let (at_client, at_server, time) = run(
            "websocket",
            |stream| side(stream, garbage.clone(), Vec::new(), &MASKED_CLOSE),
            |stream| side(stream, garbage.clone(), Vec::new(), &CLOSE),
            end,
        );
        assert_eq!((&at_client, &at_server), (&garbage, &garbage));
        assert!(time < Duration::from_secs(2), "both closed, and it took {time:?}");
        // Nor is another protocol, whatever its bytes look like.
        let (at_client, at_server, _) = run(
            "mqtt",
            |stream| side(stream, frames(&[3], true).concat(), Vec::new(), &MASKED_CLOSE),
            |stream| side(stream, frames(&[3], false).concat(), Vec::new(), &CLOSE),
            end,
        );
        assert_eq!(at_client, frames(&[3], false).concat());
        assert_eq!(at_server, frames(&[3], true).concat());
    }

    #[test]
    fn nothing_follows_a_close_frame_of_their_own() {
        let (at_client, at_server, _) = run(
            "websocket",
            |stream| side(stream, MASKED_CLOSE.to_vec(), Vec::new(), &[]),
            // Between the two halves the gate ends.
            |stream| side(stream, CLOSE[..3].to_vec(), CLOSE[3..].to_vec(), &[]),
            end,
        );
        assert_eq!((at_client, at_server), (CLOSE.to_vec(), MASKED_CLOSE.to_vec()));
    }

    #[test]
    fn a_client_that_is_gone_does_not_keep_the_server_from_being_told() {
        let gone = async |mut stream: DuplexStream| {
            stream.write_all(&frames(&[5], true).concat()).await.unwrap();
            // Between the gate's Close frame and its answer.
            let mut close = [0; 4];
            stream.read_exact(&mut close).await.unwrap();
            close
        };
        let (at_client, at_server, _) = run(
            "websocket",
            gone,
            |stream| side(stream, Vec::new(), frames(&[100], false).concat(), &CLOSE),
            end,
        );
        assert_eq!(at_client, CLOSE);
        assert_eq!(unmasked(&at_server), [frames(&[5], true).concat(), CLOSE.to_vec()].concat());
    }
}
