//! [`Counted`]: requests by class and status, and connections by protocol.

use serde::Serialize;

/// Responses by the first digit of their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Statuses {
    /// 101: another protocol follows.
    #[serde(rename = "1xx", skip_serializing_if = "is_none")]
    pub switched: u64,
    /// Successful.
    #[serde(rename = "2xx", skip_serializing_if = "is_none")]
    pub successful: u64,
    /// Elsewhere, or as before.
    #[serde(rename = "3xx", skip_serializing_if = "is_none")]
    pub redirected: u64,
    /// The client's fault.
    #[serde(rename = "4xx", skip_serializing_if = "is_none")]
    pub client_errors: u64,
    /// The server's.
    #[serde(rename = "5xx", skip_serializing_if = "is_none")]
    pub server_errors: u64,
}

/// None, or less: see [`OfClass`].
fn is_none(count: &u64) -> bool {
    count.cast_signed() <= 0
}

impl Statuses {
    /// With their names.
    pub(crate) fn all(self) -> [(&'static str, u64); 5] {
        [
            ("1xx", self.switched),
            ("2xx", self.successful),
            ("3xx", self.redirected),
            ("4xx", self.client_errors),
            ("5xx", self.server_errors),
        ]
    }

    /// Of counts by first digit, from 0.
    pub(super) fn of([_, switched, successful, redirected, client_errors, server_errors]: [u64; 6]) -> Self {
        Self { switched, successful, redirected, client_errors, server_errors }
    }

    fn since(self, before: Self) -> Self {
        Self {
            switched: self.switched.wrapping_sub(before.switched),
            successful: self.successful.wrapping_sub(before.successful),
            redirected: self.redirected.wrapping_sub(before.redirected),
            client_errors: self.client_errors.wrapping_sub(before.client_errors),
            server_errors: self.server_errors.wrapping_sub(before.server_errors),
        }
    }
}

impl Statuses {
    pub(crate) fn add(&mut self, other: Self) {
        self.switched = self.switched.wrapping_add(other.switched);
        self.successful = self.successful.wrapping_add(other.successful);
        self.redirected = self.redirected.wrapping_add(other.redirected);
        self.client_errors = self.client_errors.wrapping_add(other.client_errors);
        self.server_errors = self.server_errors.wrapping_add(other.server_errors);
    }
}

/// Requests of one class. Over a time it may be less than nothing, in two's complement: a response that has grown has
/// left one class for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfClass {
    /// Responses that have begun.
    pub requests: u64,
    /// Bytes that were sent of them, headers included.
    pub bytes: u64,
    /// By status.
    pub statuses: Statuses,
}

/// Connections on which the server has sent something, by protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Protocols {
    /// Without TLS.
    #[serde(rename = "http/1")]
    pub http1: u64,
    /// Whatever is inside.
    pub tls: u64,
    /// Without TLS.
    #[serde(rename = "http/2")]
    pub http2: u64,
    /// Another one.
    pub other: u64,
}

impl Protocols {
    /// With their names.
    pub(crate) fn all(self) -> [(&'static str, u64); 4] {
        [("http/1", self.http1), ("tls", self.tls), ("http/2", self.http2), ("other", self.other)]
    }

    /// Whether requests came on none but connections of HTTP/1 without TLS, on which every request is counted.
    pub fn are_counted(self) -> bool {
        self.tls + self.http2 + self.other == 0
    }

    fn add(&mut self, other: Self) {
        self.http1 += other.http1;
        self.tls += other.tls;
        self.http2 += other.http2;
        self.other += other.other;
    }

    fn since(self, before: Self) -> Self {
        Self {
            http1: self.http1 - before.http1,
            tls: self.tls - before.tls,
            http2: self.http2 - before.http2,
            other: self.other - before.other,
        }
    }
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// In the order of the classes.
    pub classes: Vec<OfClass>,
    /// Connections that first sent something.
    pub protocols: Protocols,
    /// Bytes on those that are not HTTP/1 without TLS.
    pub other_bytes: u64,
}

impl Counted {
    /// What has been counted since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let classes = self.classes.iter().enumerate().map(|(at, now)| {
            let before = before.classes.get(at).copied().unwrap_or_default();
            OfClass {
                requests: now.requests.wrapping_sub(before.requests),
                bytes: now.bytes.wrapping_sub(before.bytes),
                statuses: now.statuses.since(before.statuses),
            }
        });
        Self {
            classes: classes.collect(),
            protocols: self.protocols.since(before.protocols),
            other_bytes: self.other_bytes - before.other_bytes,
        }
    }

    /// Adds what was counted in another time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.classes.resize(self.classes.len().max(other.classes.len()), OfClass::default());
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.requests = mine.requests.wrapping_add(theirs.requests);
            mine.bytes = mine.bytes.wrapping_add(theirs.bytes);
            mine.statuses.add(theirs.statuses);
        }
        self.protocols.add(other.protocols);
        self.other_bytes += other.other_bytes;
    }

    /// Responses of all classes by status.
    pub fn statuses(&self) -> Statuses {
        let mut all = Statuses::default();
        self.classes.iter().for_each(|class| all.add(class.statuses));
        all
    }

    /// Whether all that was sent is counted, but for a little that was under way when it began.
    pub fn is_whole(&self) -> bool {
        let bytes = self.classes.iter().fold(0_u64, |sum, class| sum.wrapping_add(class.bytes));
        self.protocols.are_counted() && self.other_bytes <= bytes / 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_that_leaves_its_class_is_there_once() {
        let of_class = |requests| OfClass {
            requests,
            bytes: requests * 100,
            statuses: Statuses { successful: requests, ..Statuses::default() },
        };
        let at =
            |small, large| Counted { classes: vec![of_class(small), of_class(large)], ..Counted::default() };
        // Of four that were small one has grown, and another has come that is large.
        let between = at(3, 2).since(&at(4, 0));
        assert_eq!(between.statuses().all()[1], ("2xx", 1));
        assert!(is_none(&between.classes[0].statuses.successful), "one less is not shown");
        let mut all = at(4, 0);
        all.add(&between);
        assert_eq!(all, at(3, 2));
    }
}
