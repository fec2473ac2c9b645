//! Connections in TIME_WAIT, each of which holds a port for a minute (RFC 9293, 3.6.1).

use std::fs;

/// How many there are in this network namespace; 0 where that cannot be read.
pub(crate) fn in_time_wait() -> u64 {
    parse(&fs::read_to_string("/proc/net/sockstat").unwrap_or_default()).unwrap_or(0)
}

fn parse(sockstat: &str) -> Option<u64> {
    let mut words = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_in_time_wait_are_counted() {
        let text = "sockets: used 3\nTCP: inuse 2 orphan 1 tw 32173 alloc 4 mem 0\nUDP: inuse 0 mem 0\n";
        assert_eq!(parse(text), Some(32_173));
        assert_eq!(parse("UDP: inuse 0 mem 0\n"), None);
    }
}
