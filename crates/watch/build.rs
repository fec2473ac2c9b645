//! Compiles the programs that the kernel runs (`src/*/*.bpf.c`) and generates their types.

use std::env;
use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

const PROBES: [&str; 5] = ["kernel", "processes", "connections", "counts", "requests"];

#[expect(clippy::expect_used, reason = "a build that cannot go on ends")]
fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for probe in PROBES {
        let source = format!("src/{probe}/{probe}.bpf.c");
        println!("cargo:rerun-if-changed={source}");
        SkeletonBuilder::new()
            .source(&source)
            // Since Linux 5.12: atomic operations that give the value before.
            .clang_args(["-Wall", "-Werror", "-mcpu=v3"])
            .build_and_generate(out.join(format!("{probe}.skel.rs")))
            .unwrap_or_else(|why| panic!("{source}: {why:#}\nthis needs clang, which `make` installs"));
    }
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-changed=src/counts");
    println!("cargo:rerun-if-changed=src/requests");
}
