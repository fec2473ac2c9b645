//! Builds what is loaded into servers (`crates/shim`): a library of its own, for a program that may have been built with any
//! options. And compresses the console's page, which `web/` has built.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    compress_console();
    for part in ["shim", "handoff"] {
        println!("cargo::rerun-if-changed=../{part}/src");
        println!("cargo::rerun-if-changed=../{part}/Cargo.toml");
    }
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let place = variable("OUT_DIR").join("shim");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["rustc", "--quiet", "--package", "shim", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--features", "preload", "--profile", "preload", "--target-dir"]).arg(&place);
    cargo.current_dir(variable("CARGO_MANIFEST_DIR"));
    // What counts or checks this program is not for others.
    for name in
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"]
    {
        cargo.env_remove(name);
    }
    let built = cargo.status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "the library that is loaded into servers cannot be built"
    );
    let library = place.join("preload/libshim.so");
    println!("cargo::rustc-env=SHIM={}", library.display());
}

/// The page is compressed once, and not for each operator.
fn compress_console() {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let page = here.join("../../web/dist/console.html");
    println!("cargo::rerun-if-changed={}", page.display());
    let Ok(text) = fs::read(&page) else {
        println!(
            "cargo::error=web/dist/console.html, the gate's console, has not been built: run `make web`"
        );
        return;
    };
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(&text).and_then(|()| encoder.finish());
    // Both of one reading: what the page may run is told by its hashes.
    let written = compressed
        .and_then(|compressed| fs::write(out.join("console.html.gz"), compressed))
        .and_then(|()| fs::write(out.join("console.html"), &text));
    assert!(written.is_ok(), "the console's page cannot be compressed: {written:?}");
}
