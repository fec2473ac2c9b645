//! `counters.json`: what the kernel's network stack counted.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

/// The kernel's counters around a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Just before the first arrival.
    pub before: CounterSet,
    /// After the last response.
    pub after: CounterSet,
}

impl Counters {
    /// By how much `protocol.counter` rose, such as `TcpExt` and `ListenOverflows`; `None` when
    /// the kernel does not have it.
    pub fn rise(&self, protocol: &str, counter: &str) -> Option<i64> {
        Some(self.after.get(protocol, counter)? - self.before.get(protocol, counter)?)
    }
}

/// `/proc/net/snmp` and `/proc/net/netstat`: protocol, counter, value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CounterSet(BTreeMap<String, BTreeMap<String, i64>>);

impl CounterSet {
    /// Reads them now; a file that the kernel does not have adds nothing.
    pub fn read() -> Self {
        let mut set = Self::default();
        for path in ["/proc/net/snmp", "/proc/net/netstat"] {
            set.add(&fs::read_to_string(path).unwrap_or_default());
        }
        set
    }

    /// One counter.
    pub fn get(&self, protocol: &str, counter: &str) -> Option<i64> {
        self.0.get(protocol)?.get(counter).copied()
    }

    /// Both files come in pairs of lines: `Tcp: names…`, then `Tcp: values…`.
    fn add(&mut self, text: &str) {
        let mut lines = text.lines();
        while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
            let (Some((protocol, names)), Some((_, values))) =
                (names.split_once(':'), values.split_once(':'))
            else {
                continue;
            };
            let counters = self.0.entry(protocol.to_owned()).or_default();
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                if let Ok(value) = value.parse() {
                    counters.insert(name.to_owned(), value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_lines_are_read() {
        let mut before = CounterSet::default();
        before.add("Tcp: RtoMin MaxConn ActiveOpens\nTcp: 200 -1 7\nTcpExt: ListenOverflows\nTcpExt: 3\n");
        assert_eq!(before.get("Tcp", "MaxConn"), Some(-1));
        let mut after = before.clone();
        after.add("TcpExt: ListenOverflows\nTcpExt: 10\n");
        let counters = Counters { before, after };
        assert_eq!(counters.rise("TcpExt", "ListenOverflows"), Some(7));
        assert_eq!(counters.rise("TcpExt", "NoSuch"), None);
    }

    #[test]
    fn this_kernel_has_tcp_counters() {
        assert!(CounterSet::read().get("Tcp", "ActiveOpens").is_some());
    }
}
