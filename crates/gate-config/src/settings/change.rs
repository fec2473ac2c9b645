//! What another configuration changes, and what it cannot.

use crate::rules::list::List;
use crate::settings::listener::{NamedFile, ShownCertificates};
use crate::settings::root::Settings;

/// Which rules are others; all of them where it would be a long list. How many there are is
/// described.
fn changed_rules((one, all): (&str, &str), before: &List, after: &List) -> Vec<String> {
    const MANY: usize = 8;
    if before.len() != after.len() {
        return Vec::new();
    }
    let changed: Vec<usize> = before.changed(after).collect();
    if changed.len() > MANY {
        return vec![all.to_owned()];
    }
    changed.into_iter().map(|position| format!("{one} {}", position + 1)).collect()
}

impl Settings {
    /// Whether `next` has the same listeners, but for their certificates.
    fn stands_like(&self, next: &Self) -> bool {
        let pairs = || self.listeners.iter().zip(&next.listeners);
        self.listeners.len() == next.listeners.len() && pairs().all(|(mine, theirs)| mine.stands_like(theirs))
    }

    /// What is different in `next` that cannot change while the gate runs: sockets, who it is,
    /// and the classes, of which requests wait and sessions go on.
    pub fn fixed_differences(&self, next: &Self) -> Vec<&'static str> {
        let (mine, theirs) = (&self.operation, &next.operation);
        // Where the file names one may be another line.
        let same = |mine: &Option<NamedFile>, theirs: &Option<NamedFile>| {
            mine.as_ref().map(|file| &file.path) == theirs.as_ref().map(|file| &file.path)
        };
        let fixed = [
            ("listen", self.stands_like(next)),
            ("admin", self.admin == next.admin && same(&self.admission.socket, &next.admission.socket)),
            ("backlog", self.backlog == next.backlog),
            ("the list of classes", self.classes == next.classes),
            ("control", same(&mine.control, &theirs.control)),
            ("user", mine.user == theirs.user),
            ("group", mine.group == theirs.group),
        ];
        fixed.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }

    /// Names of the settings that are different in `next`, as they are described; of rules, which.
    /// `shown` and `next_shown` are what is known of the certificates of both.
    pub fn differences(
        &self,
        next: &Self,
        shown: &[Option<ShownCertificates>],
        next_shown: &[Option<ShownCertificates>],
    ) -> Vec<String> {
        let (before, after) = (self.lines(shown), next.lines(next_shown));
        let gone = before.iter().filter(|line| !after.contains(line));
        let come = after.iter().filter(|line| !before.contains(line));
        let mut names: Vec<String> = Vec::new();
        for (name, _) in gone.chain(come) {
            if !names.iter().any(|known| known == name) {
                names.push((*name).to_owned());
            }
        }
        let (mine, theirs) = (&self.rules, &next.rules);
        names.extend(changed_rules(("rule", "rules"), &mine.choose, &theirs.choose));
        names.extend(changed_rules(("raise", "raised by"), &mine.raise, &theirs.raise));
        names.extend(self.undescribed_differences(next).map(str::to_owned));
        names
    }

    /// Of what is too long to be described, or secret.
    fn undescribed_differences(&self, next: &Self) -> impl Iterator<Item = &'static str> {
        let (mine, theirs) = (&self.session, &next.session);
        // How many there are is described.
        let alike = mine.secrets == theirs.secrets && mine.site == theirs.site;
        let secrets = alike || mine.secrets.len() != theirs.secrets.len();
        let room = self.waiting_room.is_some() != next.waiting_room.is_some()
            || self.waiting_room == next.waiting_room;
        let undescribed = [
            ("session secrets", secrets),
            ("refusal page", self.reject.words == next.reject.words),
            ("waiting room page", room),
            ("admin tokens", self.admission.tokens == next.admission.tokens),
        ];
        undescribed.into_iter().filter(|(_, same)| !same).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const CLASSES: &str = "[[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n";

    fn settings(directory: &Path, more: &str) -> Settings {
        let text = format!("listen = '127.0.0.1:0'\nupstream = '127.0.0.1:1'\n{more}\n{CLASSES}");
        Settings::from_source(&config::Source::new("gate.toml", &text), directory).unwrap()
    }

    #[track_caller]
    fn check(before: &str, after: &str, changed: &[&str]) {
        let settings = |more| settings(Path::new("."), more);
        assert_eq!(
            settings(before).differences(&settings(after), &[], &[]),
            changed,
            "{before:?} and {after:?}"
        );
        assert!(settings(after).differences(&settings(after), &[], &[]).is_empty(), "{after:?}");
    }

    fn rules(table: &str, conditions: &[&str]) -> String {
        conditions.iter().map(|one| format!("[[{table}]]\nclass = 'premium'\n{one}\n")).collect()
    }

    #[test]
    fn of_rules_it_is_told_which() {
        let conditions =
            ["path = '/a/'", "cookie = 'tier=*'", "when = \"request.path == '/'\"", "host = 'a'"];
        let before = rules("rule", &conditions);
        for (position, other) in [
            (0, "path = '/b/'"),
            (1, "cookie = 'tier=?'"),
            (2, "when = \"request.path == '/a'\""),
            (2, "path = '/'"),
            (3, "host = 'a'\nmethod = 'POST'"),
        ] {
            let mut after = conditions;
            after[position] = other;
            check(&before, &rules("rule", &after), &[&format!("rule {}", position + 1)]);
        }
        check(&before, &before.replacen("'premium'", "'basic'", 1), &["rule 1"]);
        let mut turned = conditions;
        turned.swap(0, 2);
        check(&before, &rules("rule", &turned), &["rule 1", "rule 3"]);
        check(&before, &rules("rule", &conditions[1..]), &["rules"]);
        check(&rules("raise", &conditions[..1]), &rules("raise", &conditions[1..2]), &["raise 1"]);
        let [many, others] = ["a", "b"].map(|name| rules("rule", &[format!("host = '{name}'").as_str(); 9]));
        check(&many, &others, &["rules"]);
    }

    #[test]
    fn whatever_is_set_is_told() {
        let admin = |more: &str| format!("admin = {{ listen = '127.0.0.1:0', {more} }}");
        for (before, after, changed) in [
            ("window = 4", "window = 5", "window"),
            ("limits.connections = 500", "limits.connections = 501", "connections"),
            ("limits.streams = 500", "limits.streams = 501", "connections"),
            ("limits.memory = '400MB'", "limits.memory = '401MB'", "connections"),
            ("session.secure = false", "session.secure = true", "sessions"),
            (
                "session.secret = 'the first secret of all'",
                "session.secret = 'the second secret of all'",
                "session secrets",
            ),
            ("", "session.secret = 'the first secret of all'", "sessions"),
            (&admin("hosts = 'a'"), &admin("hosts = 'b'"), "admin"),
            ("reject.waiting-page = 'built-in'", "", "refusal page"),
        ] {
            check(before, after, &[changed]);
        }
    }

    #[test]
    fn files_are_told_by_what_is_in_them() {
        let directory = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            for (name, length) in [("tokens", 20), ("busy.txt", 1)] {
                std::fs::write(directory.path().join(name), format!("ops {}", text.repeat(length))).unwrap();
            }
            settings(
                directory.path(),
                "admin = { listen = '127.0.0.1:0', token-file = 'tokens' }\nreject.body-file = 'busy.txt'",
            )
        };
        assert_eq!(read("a").differences(&read("b"), &[], &[]), ["refusal page", "admin tokens"]);
        assert!(read("a").differences(&read("a"), &[], &[]).is_empty());
    }
}
