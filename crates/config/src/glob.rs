//! [`Glob`]: patterns with `*` and `?`.

/// A pattern of bytes in which `*` stands for any run of them and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(pub String);

impl Glob {
    /// The text that alone matches, if there is only one.
    pub fn exactly(&self) -> Option<&str> {
        (!self.0.contains(['*', '?'])).then_some(self.0.as_str())
    }

    /// Linear but for the last star, which alone needs to be tried again further on.
    pub fn matches(&self, text: &[u8]) -> bool {
        let pattern = self.0.as_bytes();
        let (mut at, mut seen) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while seen < text.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at + 1, seen));
                    at += 1;
                }
                Some(byte) if *byte == b'?' || *byte == text[seen] => {
                    at += 1;
                    seen += 1;
                }
                _ => {
                    let Some((after, swallowed)) = star else { return false };
                    (at, seen) = (after, swallowed + 1);
                    star = Some((after, seen));
                }
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, text, matches) in [
            ("*.php", "/shop/buy.php", true),
            ("*.php", "/shop/buy.php5", false),
            ("/a/*/c", "/a/b/b/c", true),
            ("/a/*/c", "/a/c", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
        ] {
            assert_eq!(Glob(glob.to_owned()).matches(text.as_bytes()), matches, "{glob} on {text}");
        }
    }
}
