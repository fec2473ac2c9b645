//! `simulate`: worlds one after the other, until the processor time is used up.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use simulate::trace::Keep;
use simulate::world::{self, WorldOutcome};

/// Simulates the whole gate on virtual time and simulated sockets, and checks what must hold.
#[derive(Debug, Parser)]
struct Args {
    /// The first world; each further one has the next number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// This many worlds, whatever time they take.
    #[arg(long, conflicts_with = "seconds")]
    worlds: Option<u64>,
    /// Processor time after which no further world begins.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// One world, and all that happens in it, a line each.
    #[arg(long, conflicts_with_all = ["worlds", "seconds"])]
    trace: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if args.trace {
        let outcome = world::run(args.seed, Keep::Lines)?;
        print!("{}", outcome.text);
        return Ok(code(outcome.findings.len()));
    }
    let (mut simulated, mut found, mut requests, mut early_lost, mut worlds) = (Duration::ZERO, 0, 0, 0, 0);
    let limit = Duration::from_secs(args.seconds);
    while args.worlds.map_or_else(|| processor_time() < limit, |most| worlds < most) {
        let seed = args.seed + worlds;
        let outcome = world::run(seed, Keep::Hash)?;
        simulated += outcome.simulated;
        requests += outcome.tally.sent;
        early_lost += outcome.tally.early_lost;
        worlds += 1;
        found += outcome.findings.len();
        tell(seed, &outcome);
    }
    let (hours, minutes) = (simulated.as_secs_f64() / 3600.0, processor_time().as_secs_f64() / 60.0);
    println!(
        "{worlds} worlds, {hours:.1} hours, {requests} requests in {minutes:.2} minutes of the processor: \
         {:.0} hours and {:.0} requests a minute; {found} findings",
        hours / minutes,
        requests as f64 / minutes
    );
    if early_lost > 0 {
        println!(
            "{early_lost} uploads lost an answer that their server gave before it had read them (known)"
        );
    }
    Ok(code(found))
}

fn tell(seed: u64, outcome: &WorldOutcome) {
    for finding in &outcome.findings {
        println!("seed {seed}: {finding} (simulate --seed {seed} --trace shows how)");
    }
}

fn code(findings: usize) -> ExitCode {
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
