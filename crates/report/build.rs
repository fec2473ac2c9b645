//! The page is built by `web/`; without it there is nothing to fill.

use std::path::Path;

fn main() {
    // As it is now: a build script that was compiled in one copy of the tree may run in another.
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let page = Path::new(&here).join("../../web/dist/report.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.is_file() {
        println!("cargo::error=web/dist/report.html, the report's page, has not been built: run `make web`");
    }
}
