//! The nearest known word to a mistyped one.

/// The candidate nearest to `word`, if it is near enough to be what was meant.
///
/// ```
/// assert_eq!(config::did_you_mean("premum", ["premium", "basic"]), Some("premium"));
/// assert_eq!(config::did_you_mean("gold", ["premium", "basic"]), None);
/// ```
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: f64 = 0.6;
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
