//! What another configuration changes, and what it cannot.

use super::Settings;

impl Settings {
    /// What is different in `next` that cannot change while the gate runs: sockets, who it is,
    /// and the classes, of which requests wait and sessions go on.
    pub(crate) fn fixed_differences(&self, next: &Self) -> Vec<&'static str> {
        let (mine, theirs) = (&self.operation, &next.operation);
        let fixed = [
            ("listen", self.stands_like(next)),
            ("admin", self.admin == next.admin && self.admission.socket == next.admission.socket),
            ("backlog", self.backlog == next.backlog),
            ("the list of classes", self.classes == next.classes),
            ("control", mine.control == theirs.control),
            ("user", mine.user == theirs.user),
            ("group", mine.group == theirs.group),
        ];
        fixed.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }

    /// Names of the settings whose description is different in `next`: not of secrets and pages,
    /// which are not described.
    pub(crate) fn differences(&self, next: &Self) -> Vec<&'static str> {
        let (before, after) = (self.lines(), next.lines());
        let gone = before.iter().filter(|line| !after.contains(line));
        let come = after.iter().filter(|line| !before.contains(line));
        let mut names = Vec::new();
        for (name, _) in gone.chain(come) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }
}
