//! Giving up root's rights once the ports are taken.

use nix::sys::prctl;
use nix::unistd::{Gid, Group, Uid, User, geteuid, setgroups, setresgid, setresuid};

use gate_config::settings::operation::Operation;

/// Why the gate cannot become who it is to be.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// There is no such user or group.
    #[error("there is no {kind} \"{name}\" on this machine; create it or name another")]
    Unknown {
        /// `user` or `group`.
        kind: &'static str,
        /// As configured.
        name: String,
    },
    /// Only root can become somebody else.
    #[error("only root can become \"{user}\"; start the gate as root, or as \"{user}\", or leave user out")]
    NotRoot {
        /// As configured.
        user: String,
    },
    /// The kernel refuses.
    #[error("cannot become \"{user}\": {why}")]
    Refused {
        /// As configured.
        user: String,
        /// What the kernel says.
        why: nix::Error,
    },
    /// Root's rights could be had back.
    #[error("root's rights can still be had back after becoming \"{user}\"; name a user other than root")]
    Kept {
        /// As configured.
        user: String,
    },
}

/// Becomes the configured user for good, with no other group than the configured one or the
/// user's own, and gives up gaining rights by running other programs.
///
/// To be called when no other thread runs yet: those started later inherit what is set here.
///
/// # Errors
/// When there is no such user, or rights to become it are missing.
pub(crate) fn give_up(operation: &Operation) -> Result<(), PrivilegeError> {
    let Some(name) = &operation.user else { return Ok(()) };
    let (uid, gid) = look_up(name, operation.group.as_deref())?;
    let refused = |why| PrivilegeError::Refused { user: name.clone(), why };
    if geteuid().is_root() {
        // Groups first: afterwards there is no right to change them. And all three ids of each,
        // or the saved one would give the rights back (setresuid(2)).
        setgroups(&[gid]).map_err(refused)?;
        setresgid(gid, gid, gid).map_err(refused)?;
        setresuid(uid, uid, uid).map_err(refused)?;
    } else if geteuid() != uid {
        return Err(PrivilegeError::NotRoot { user: name.clone() });
    }
    prctl::set_no_new_privs().map_err(refused)?;
    let root = Uid::from_raw(0);
    if setresuid(root, root, root).is_ok() {
        return Err(PrivilegeError::Kept { user: name.clone() });
    }
    Ok(())
}

/// The configured user's id, if there is one.
pub(crate) fn user(operation: &Operation) -> Option<u32> {
    let name = operation.user.as_deref()?;
    look_up(name, None).ok().map(|(uid, _)| uid.as_raw())
}

fn look_up(user: &str, group: Option<&str>) -> Result<(Uid, Gid), PrivilegeError> {
    let unknown = |kind, name: &str| PrivilegeError::Unknown { kind, name: name.to_owned() };
    // An error of the look-up itself means as much: no user of that name can be found.
    let account = User::from_name(user).ok().flatten().ok_or_else(|| unknown("user", user))?;
    let gid = match group {
        None => account.gid,
        Some(group) => Group::from_name(group).ok().flatten().ok_or_else(|| unknown("group", group))?.gid,
    };
    Ok((account.uid, gid))
}
