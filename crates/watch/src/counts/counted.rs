//! [`Counted`]: requests by class and status, and connections by protocol.

use serde::Serialize;

/// Responses by the first digit of their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Statuses {
    /// Of HTTP/2, where the status is not written out, but stands for one that was written earlier on the connection.
    #[serde(rename = "unknown", skip_serializing_if = "is_none")]
    pub unknown: u64,
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
    at_least_none(*count) == 0
}

/// A sum that may be less than nothing, in two's complement, as far as it is more.
fn at_least_none(sum: u64) -> u64 {
    sum.cast_signed().max(0).cast_unsigned()
}

impl Statuses {
    /// With their names; none where it is less: see [`OfClass`].
    pub(crate) fn all(self) -> [(&'static str, u64); 6] {
        let all = [
            ("1xx", self.switched),
            ("2xx", self.successful),
            ("3xx", self.redirected),
            ("4xx", self.client_errors),
            ("5xx", self.server_errors),
            ("unknown", self.unknown),
        ];
        all.map(|(name, count)| (name, at_least_none(count)))
    }

    /// Of counts by first digit, from 0.
    pub(super) fn of(
        [unknown, switched, successful, redirected, client_errors, server_errors]: [u64; 6],
    ) -> Self {
        Self { unknown, switched, successful, redirected, client_errors, server_errors }
    }

    fn since(self, before: Self) -> Self {
        Self {
            unknown: self.unknown.wrapping_sub(before.unknown),
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
        self.unknown = self.unknown.wrapping_add(other.unknown);
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
    /// HTTP/1 without TLS.
    #[serde(rename = "http/1")]
    pub http1: u64,
    /// HTTP/2 without TLS.
    #[serde(rename = "http/2")]
    pub http2: u64,
    /// HTTP/1 inside TLS, where the server's library shows it.
    #[serde(rename = "https/1")]
    pub https1: u64,
    /// HTTP/2 inside TLS, where the server's library shows it.
    #[serde(rename = "https/2")]
    pub https2: u64,
    /// TLS, and what is inside is not seen.
    pub tls: u64,
    /// Another one.
    pub other: u64,
    /// Those of HTTP/2, of the ones above, whose frames could not be followed to their end.
    pub strayed: u64,
}

impl Protocols {
    /// With their names.
    pub(crate) fn all(self) -> [(&'static str, u64); 6] {
        [
            ("http/1", self.http1),
            ("http/2", self.http2),
            ("https/1", self.https1),
            ("https/2", self.https2),
            ("tls", self.tls),
            ("other", self.other),
        ]
    }

    /// Those on which they are.
    pub(crate) fn counted(self) -> u64 {
        self.http1 + self.http2 + self.https1 + self.https2
    }

    /// Those on which requests are not counted one by one, in words; none that there are none of.
    pub(crate) fn uncounted(self) -> Vec<String> {
        let kinds = [
            (self.tls, "TLS whose inside cannot be seen"),
            (self.other, "an unknown protocol"),
            (self.strayed, "HTTP/2 whose frames could not be followed"),
        ];
        let seen = kinds.into_iter().filter(|(count, _)| *count > 0);
        seen.map(|(count, kind)| format!("{count} of {kind}")).collect()
    }

    /// Whether requests came on none but connections on which every request is counted.
    pub fn are_counted(self) -> bool {
        self.tls + self.other + self.strayed == 0
    }

    fn combine(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            http1: with(self.http1, other.http1),
            http2: with(self.http2, other.http2),
            https1: with(self.https1, other.https1),
            https2: with(self.https2, other.https2),
            tls: with(self.tls, other.tls),
            other: with(self.other, other.other),
            strayed: with(self.strayed, other.strayed),
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
    /// Bytes on those whose responses are not counted, and of responses that had begun before it was counted.
    pub other_bytes: u64,
}

impl OfClass {
    /// Requests and bytes; none where what has grown has left the class, so that more have left it than came.
    pub(crate) fn seen(self) -> [u64; 2] {
        [self.requests, self.bytes].map(at_least_none)
    }
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
            protocols: self.protocols.combine(before.protocols, u64::saturating_sub),
            other_bytes: self.other_bytes.wrapping_sub(before.other_bytes),
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
        self.protocols = self.protocols.combine(other.protocols, u64::saturating_add);
        self.other_bytes = self.other_bytes.wrapping_add(other.other_bytes);
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
        self.protocols.are_counted() && self.others() <= at_least_none(bytes) / 20
    }

    /// Bytes on connections whose responses are not counted; none where what was under way at the last look is less now.
    pub(crate) fn others(&self) -> u64 {
        at_least_none(self.other_bytes)
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
