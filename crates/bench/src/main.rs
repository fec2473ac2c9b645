//! What the tools of Headworks cost, measured beside others: for developers, not part of the product.
//!
//! Everything measured is a program that runs as a process, ours included, so each is treated
//! alike: the same server, the same pinning, the same accounting by the kernel.

mod attach;
mod gate;
mod generators;
mod harness;
mod load;
mod results;
mod servers;
mod sim;
mod soak;
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
    Attach(attach::command::Args),
    Gate(gate::command::Args),
    Load(load::command::Args),
    Sim(sim::command::Args),
    Soak(soak::command::Args),
    Verdict(verdict::command::Args),
    Watch(watch::command::Args),
    #[command(hide = true)]
    Hold(gate::hold::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().bench {
        Bench::Attach(args) => attach::command::run(&args),
        Bench::Gate(args) => gate::command::run(&args),
        Bench::Load(args) => load::command::run(&args),
        Bench::Sim(args) => sim::command::run(&args),
        Bench::Soak(args) => soak::command::run(&args),
        Bench::Verdict(args) => verdict::command::run(&args),
        Bench::Watch(args) => watch::command::run(&args),
        Bench::Hold(args) => gate::hold::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
