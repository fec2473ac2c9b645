//! Texts of strangers on a terminal: class names, paths and reasons can be anything that a client or a server sends.

/// Stands for what is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// The text without what a terminal would obey, and without what makes a text look like another one: control
/// characters of both sets (ECMA-48; C1 is obeyed by xterm in UTF-8 too), marks without width, and those that turn the
/// direction of writing (UTS #55).
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|letter| if is_hostile(letter) { REPLACEMENT } else { letter }).collect()
}

/// JSON of the same value, with such letters escaped. Outside of strings JSON has none but white space, which
/// serde_json does not write.
pub(crate) fn clean_json(json: &str) -> String {
    let mut clean = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_hostile(letter) {
            let mut units = [0; 2];
            clean.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            clean.push(letter);
        }
    }
    clean
}

pub(crate) fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_of_it() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{9b}31md\u{202e}e"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}31md\u{fffd}e");
        assert_eq!(clean("prémium 日本"), "prémium 日本");
    }

    #[test]
    fn json_says_the_same_as_before() {
        let value = serde_json::json!({ "a\u{7f}": "x\u{9b}y\u{202e}\n" });
        let text = clean_json(&value.to_string());
        assert!(!text.chars().any(is_hostile), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
