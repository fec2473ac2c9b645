//! Errors of texts that no person wrote.

/// An error's text without file and line, where those would be of a text that no person wrote.
pub(super) fn without_place(error: &config::Error) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((place, rest)) if place.trim_start_matches(':').chars().all(|c| c.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => text,
    }
}
