//! What systemd forbids a service that the library needs.

use std::path::Path;
use std::process::Command;

/// Properties of units that name what processes may do (systemd.exec(5)), and what the library does of it.
const NEEDED: [(&str, &[&str]); 2] = [
    ("RestrictAddressFamilies", &["AF_UNIX"]),
    (
        "SystemCallFilter",
        &[
            "connect",
            "epoll_create1",
            "epoll_ctl",
            "futex",
            "inotify_add_watch",
            "inotify_init1",
            "madvise",
            "mmap",
            "recvmsg",
            "sendmsg",
            "setsockopt",
            "socket",
        ],
    ),
];

/// What stands in the way of the library in a service, as far as systemd says it: a line for the user each. What an
/// administrator has forbidden is not allowed in passing, nor would a line that allows it be right for a later version of the unit.
pub(super) fn hindrances(unit: &str, library: &Path, socket: &Path) -> Vec<String> {
    let shown = Command::new("systemctl")
        .args(["show", "--property", "LoadState,RestrictAddressFamilies,SystemCallFilter"])
        .args(["--property", "RootDirectory,RootImage,AppArmorProfile", "--", unit])
        .output();
    match shown {
        Ok(shown) if shown.status.success() => {
            read(&String::from_utf8_lossy(&shown.stdout), unit, library, socket)
        }
        _ => vec![format!(
            "systemd does not say here what {unit} may do: where RestrictAddressFamilies= is set it has to name AF_UNIX"
        )],
    }
}

/// What `systemctl show` printed.
fn read(shown: &str, unit: &str, library: &Path, socket: &Path) -> Vec<String> {
    let (library, socket) = (library.display(), socket.display());
    let stands = |(property, value): (&str, &str)| {
        // What is not set is an empty list of what is forbidden, and one of what is allowed allows nothing.
        if value.is_empty() {
            let is_none = property == "RestrictAddressFamilies";
            return is_none
                .then(|| format!("{unit} may have no sockets ({property}=none): the library needs AF_UNIX"));
        }
        if let Some((_, needed)) = NEEDED.iter().find(|(name, _)| *name == property) {
            let missing = missing(value, needed).join(" ");
            return (!missing.is_empty()).then(|| {
                format!(
                    "{unit} may not use {missing} ({property}=), which the library does. With systemctl edit {unit}: \
                    [Service] {property}={missing}"
                )
            });
        }
        Some(match property {
            "LoadState" if value == "not-found" => format!("systemd knows no {unit}"),
            "RootDirectory" | "RootImage" => {
                format!(
                    "{unit} has a root of its own ({value}): {library} and {socket} have to be in it (BindPaths=)"
                )
            }
            "AppArmorProfile" => format!(
                "{unit} has an AppArmor profile ({value}): it needs the lines `{library} mr,` and `{socket} rw,`"
            ),
            _ => return None,
        })
    };
    shown.lines().filter_map(|line| line.split_once('=')).filter_map(stands).collect()
}

/// What is needed and not in a list of what is allowed, or in one of what is not (which begins with ~).
fn missing<'a>(list: &str, needed: &[&'a str]) -> Vec<&'a str> {
    let (is_of_forbidden, names) = match list.strip_prefix('~') {
        Some(names) => (true, names),
        None => (false, list),
    };
    // Of what is forbidden it may be said how: `socket:EPERM`.
    let names = names.split_whitespace().map(|named| named.split_once(':').map_or(named, |(name, _)| name));
    let is_named = |name: &str| names.clone().any(|named| named == name);
    needed.iter().copied().filter(|name| is_named(name) == is_of_forbidden).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shown: &str) -> String {
        read(shown, "web.service", Path::new("/lib/shim.so"), Path::new("/run/attach.sock")).join("\n")
    }

    #[test]
    fn what_is_not_restricted_is_no_hindrance() {
        assert_eq!(
            of("LoadState=loaded\nRestrictAddressFamilies=~\nSystemCallFilter=~\nRootDirectory=\n"),
            ""
        );
    }

    #[test]
    fn what_is_missing_in_a_list_is_said() {
        let said = of("RestrictAddressFamilies=AF_INET AF_INET6\n");
        assert!(said.contains("[Service] RestrictAddressFamilies=AF_UNIX"), "{said}");
        assert_eq!(of("RestrictAddressFamilies=AF_INET AF_UNIX\n"), "");
        assert!(of("RestrictAddressFamilies=\n").contains("no sockets"));
    }

    #[test]
    fn what_is_in_a_list_of_what_is_forbidden_is_said() {
        let said =
            of("SystemCallFilter=~ptrace inotify_init1:EPERM mount\nRestrictAddressFamilies=~AF_PACKET\n");
        assert!(said.ends_with("[Service] SystemCallFilter=inotify_init1"), "{said}");
    }

    #[test]
    fn what_else_is_in_the_way_is_said() {
        let said = of("LoadState=not-found\nRootDirectory=/srv/web\nAppArmorProfile=web\n");
        for words in ["knows no web.service", "/srv/web", "`/lib/shim.so mr,`"] {
            assert!(said.contains(words), "{said}");
        }
    }
}
