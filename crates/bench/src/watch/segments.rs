//! What a server's network has sent so far, as a count that costs the server nothing.

use std::fs;
use std::time::Instant;

use anyhow::Context;

/// A look at the count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    at: Instant,
    segments: u64,
}

impl Look {
    /// At the network of a process.
    ///
    /// # Errors
    /// When the process is gone.
    pub(super) fn at(process: u32) -> anyhow::Result<Self> {
        let table = format!("/proc/{process}/net/netstat");
        let text = fs::read_to_string(&table).with_context(|| format!("cannot read {table}"))?;
        let segments = segments(&text).with_context(|| format!("cannot understand {table}"))?;
        Ok(Self { at: Instant::now(), segments })
    }

    /// Segments since an earlier look, and per second.
    pub(super) fn since(self, earlier: Self) -> (u64, f64) {
        let segments = self.segments.saturating_sub(earlier.segments);
        (segments, segments as f64 / self.at.duration_since(earlier.at).as_secs_f64())
    }
}

/// Segments with data that were sent for the first time, without mere acknowledgements (include/uapi/linux/snmp.h,
/// `LINUX_MIB_TCPORIGDATASENT`): the names are in one line, the values in the next.
fn segments(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let names = lines.next()?.split_whitespace();
    let mut values = lines.next()?.split_whitespace();
    let place = names.into_iter().position(|name| name == "TCPOrigDataSent")?;
    values.nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_read_by_name() {
        let text = "IpExt: a b\nIpExt: 1 2\nTcpExt: a TCPOrigDataSent x\nTcpExt: 7 42 9\n";
        assert_eq!(segments(text), Some(42));
        assert_eq!(segments("TcpExt: TCPOrigDataSent\n"), None);
    }
}
