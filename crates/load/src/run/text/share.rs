//! A share of a whole, as people read it.

pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 / whole as f64 * 100.0) }
}
