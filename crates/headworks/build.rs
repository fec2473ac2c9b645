//! Builds what is loaded into servers (`crates/shim`): a library of its own, for a program that may have been built with any
//! options.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
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
