//! What the tools of Headworks cost, measured beside others: for developers, not part of the product.
//!
//! Everything measured is a program that runs as a process, ours included, so each is treated
//! alike: the same server, the same pinning, the same accounting by the kernel.

mod cell;
mod certificate;
mod gate;
mod load;
mod machine;
mod page;
mod peers;
mod raw;
mod rounds;
mod server;
mod sim;
mod site;
mod soak;
mod text;
mod verdict;
mod watch;

use std::process::ExitCode;

use clap::Parser;

/// Benchmarks of Headworks' tools; started by `make bench` from the root of the repository.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    Gate(gate::Args),
    Load(load::Args),
    Sim(sim::Args),
    Soak(soak::Args),
    Verdict(verdict::Args),
    Watch(watch::Args),
    #[command(hide = true)]
    Hold(gate::Hold),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().bench {
        Bench::Gate(args) => gate::run(&args),
        Bench::Load(args) => load::run(&args),
        Bench::Sim(args) => sim::run(&args),
        Bench::Soak(args) => soak::run(&args),
        Bench::Verdict(args) => verdict::run(&args),
        Bench::Watch(args) => watch::run(&args),
        Bench::Hold(args) => gate::hold(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
