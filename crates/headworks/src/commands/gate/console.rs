//! The operator's console, which `web/` builds.

use gate::Console;

const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/console.html"));
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/console.html.gz"));

/// The page, as it is built into this program.
pub(in crate::commands) fn console() -> Console {
    Console::new(PAGE, COMPRESSED)
}
