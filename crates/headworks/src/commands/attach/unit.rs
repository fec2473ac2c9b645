//! A service of systemd that is started with the library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gate_config::Settings;

use super::hindrances::hindrances;
use super::library::write_library;

/// Where drop-ins of the administrator's are (systemd.unit(5)).
pub(super) const UNITS: &str = "/etc/systemd/system";
/// The library of services, if no other place is named.
const LIBRARY: &str = "/usr/local/lib/headworks/shim.so";
/// Its name among the drop-ins.
const DROP_IN: &str = "headworks-attach.conf";

/// Writes the library and a drop-in for a service; gives what is to be done then, and how to take it back.
pub(super) fn write_drop_in(unit: &str, units: &Path, library: Option<&Path>) -> anyhow::Result<String> {
    if unit.contains('/') || unit.is_empty() || unit.starts_with('.') {
        bail!("{unit:?} does not name a service");
    }
    let unit = if unit.ends_with(".service") { unit.to_owned() } else { format!("{unit}.service") };
    let library = library.map_or_else(|| PathBuf::from(LIBRARY), Path::to_owned);
    let library =
        std::path::absolute(&library).with_context(|| format!("{} is not a path", library.display()))?;
    make_parent(&library)?;
    write_library(&library)?;
    let socket = Settings::attached().attach.unwrap_or_default();
    let text = format!(
        "# The gate under this server (headworks attach). To take it out, remove this file, and restart the service.\n\
        [Service]\nEnvironment=\"LD_PRELOAD={}\" \"HEADWORKS_ATTACH={}\"\n",
        library.display(),
        socket.display()
    );
    let file = units.join(format!("{unit}.d")).join(DROP_IN);
    make_parent(&file)?;
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    let hindrances = hindrances(&unit, &library, &socket);
    let hindrances: String = hindrances.iter().map(|line| format!("note: {line}\n")).collect();
    Ok(format!(
        "wrote {file}\nwrote {library}\n{hindrances}\
        The service serves as before until a gate listens at {socket}: headworks gate --config FILE, with attach = true in it.\n\
        now:            systemctl daemon-reload && systemctl restart {unit}\n\
        to take it out: rm {file} && systemctl daemon-reload && systemctl restart {unit}\n",
        file = file.display(),
        library = library.display(),
        socket = socket.display(),
    ))
}

fn make_parent(file: &Path) -> anyhow::Result<()> {
    let parent = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}
