//! Size against transfer time, thinned out to what a picture can show.

use std::collections::BTreeMap;

use record::RequestRow;

use super::model::SizeField;

/// Fields to a decade, in both directions: closer than this, two dots are one on a screen.
const FIELDS_PER_DECADE: f64 = 16.0;

/// Every response is in some field, so that the rare ones, which say most, are never left out; the
/// grid has an end in both directions, so it stays small.
#[derive(Debug, Default)]
pub(super) struct Collector(BTreeMap<(i32, i32), SizeField>);

impl Collector {
    pub(super) fn request(&mut self, row: &RequestRow) {
        let (None, Some(transfer)) = (row.error, row.transfer_ns) else { return };
        if row.bytes == 0 {
            return;
        }
        let place = |x: f64| (x.max(1.0).log10() * FIELDS_PER_DECADE).floor() as i32;
        let field = (place(row.bytes as f64), place(transfer.as_nanos() as f64));
        let first = SizeField { bytes: row.bytes, transfer: transfer.as_secs_f64(), count: 0 };
        self.0.entry(field).or_insert(first).count += 1;
    }

    pub(super) fn finish(self) -> Vec<SizeField> {
        self.0.into_values().collect()
    }
}
