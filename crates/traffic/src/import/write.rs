//! [`workload`]: the file, in TOML.

use std::fmt::Write as _;

use super::draft::{Draft, Step};

/// The text of the workload file.
pub(super) fn workload(draft: &Draft) -> String {
    let mut file = String::new();
    for line in &draft.head {
        comment(&mut file, line);
    }
    file += "\nkind = \"sessions\"\n";
    if let Some(cookie) = &draft.cookie {
        file += "\n[[class]]\nname = \"all\"\nshare = 1\n";
        let _ = writeln!(file, "header = {{ Cookie = {} }}", string(cookie));
    }
    for step in &draft.steps {
        page(&mut file, step);
    }
    file
}

fn page(file: &mut String, step: &Step) {
    file.push('\n');
    comment(file, &step.comment);
    file.push_str("[[page]]\n");
    let mut key = |name: &str, value: String| {
        let _ = writeln!(file, "{name} = {value}");
    };
    if step.method != "GET" || step.body.is_some() {
        key("method", string(&step.method));
    }
    key("url", string(&step.url.written()));
    if !step.headers.is_empty() {
        key("header", table(step.headers.iter().map(|(name, value)| (name, value.written()))));
    }
    if let Some(body) = &step.body {
        key("body", string(&body.written()));
    }
    if !step.expect.is_empty() {
        let is_one = step.expect.bytes().all(|byte| byte.is_ascii_digit());
        key("expect", if is_one { step.expect.clone() } else { string(&step.expect) });
    }
    if !step.takes.is_empty() {
        key("take", table(step.takes.iter().map(|(name, place)| (name, place.clone()))));
    }
    if !step.embedded.is_empty() {
        let embedded = step.embedded.iter().map(|url| format!("    {},\n", string(url)));
        key("embedded", format!("[\n{}]", embedded.collect::<String>()));
    }
    if !step.think.is_zero() {
        key("think", string(&step.think.to_string()));
    }
}

/// A line that says something; what cannot stand in a comment of TOML becomes a space.
fn comment(file: &mut String, text: &str) {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(file, "# {}", text.trim());
}

fn table<'n>(pairs: impl Iterator<Item = (&'n String, String)>) -> String {
    let pairs = pairs.map(|(name, value)| format!("{} = {}", key_of(name), string(&value)));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

fn key_of(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare && !name.is_empty() { name.to_owned() } else { string(name) }
}

/// A string of TOML on one line: as it stands between single quotes where that can be, else with escapes.
fn string(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\'';
    if text.contains(['"', '\\']) && text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\n' => write!(quoted, "\\n"),
            '\r' => write!(quoted, "\\r"),
            '\t' => write!(quoted, "\\t"),
            c if c.is_control() => write!(quoted, "\\u{:04X}", u32::from(c)),
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text::Text;
    use super::*;

    proptest! {
        #[test]
        fn whatever_is_written_is_read_again(body in any::<String>(), name in "[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,8}", value in "[ -~]{0,20}") {
            prop_assume!(!body.starts_with('@'));
            prop_assume!(!["connection", "content-length"].contains(&name.to_ascii_lowercase().as_str()));
            let step = Step {
                comment: body.clone(),
                method: "POST".to_owned(),
                url: Text::literal("/a"),
                headers: vec![(name.clone(), Text::literal(value.clone()))],
                body: Some(Text::literal(body.clone())),
                ..Step::default()
            };
            let draft = Draft { steps: vec![step], head: vec![body.clone()], ..Draft::default() };
            let file = workload(&draft);
            let read = crate::Workload::parse(&config::Source::new("w.toml", file.clone())).map_err(|why| TestCaseError::fail(format!("{why}\n{file}")))?;
            let request = &read.pages[0].request;
            prop_assert_eq!(request.body.as_ref().and_then(|body| body.fixed()).map(|text| &**text), Some(body.as_str()));
            prop_assert_eq!(&request.headers[0].0, &name);
            prop_assert_eq!(request.headers[0].1.fixed().map(|text| &**text), Some(value.as_str()));
        }
    }
}
