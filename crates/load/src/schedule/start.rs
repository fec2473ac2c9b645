//! [`start`]: puts the load on that the options ask for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use traffic::model::Model;
use traffic::{Process, Profile, Schedule};

use crate::client::context::ThreadContext;
use crate::client::session::Pauses;
use crate::engine::share::Share;
use crate::schedule::closed_loop::{Clients, closed_loop};
use crate::schedule::open_loop::{Part, Planned, open_loop};
use crate::schedule::source::Source;
use crate::settings::options::{Load, Options, Script};

/// Starts the tasks of this thread's share of the load.
pub(crate) fn start(thread: &Rc<ThreadContext>, options: &Options) {
    let source = Rc::new(match &options.script {
        Script::Url => Source::Url,
        Script::Sessions { .. } => Source::Sessions,
        Script::Trace(_) => Source::Trace(Cell::default()),
        Script::Model(model) => {
            let seed = options.seed.wrapping_add(u64::from(thread.share.number));
            Source::Model(Box::new(RefCell::new(Model::named(model.name(), seed))))
        }
    });
    let mut shares: Vec<f64> = thread.plan.classes.iter().map(|class| class.share).collect();
    match &options.load {
        Load::Open { process, connections, .. } => {
            let most = connections.map(|most| thread.share.part(most));
            let profile = profile(options);
            let (mut seed, mut every) = (options.seed, thread.share);
            if is_split(options, thread.share) {
                shares.iter_mut().for_each(|part| *part /= f64::from(thread.share.of));
                seed ^= u64::from(thread.share.number) << 32;
                every = Share { number: 0, of: 1 };
            }
            let schedule = Schedule::new(*process, &profile, &shares, seed).map(Planned::from);
            let task =
                open_loop(Rc::clone(thread), source, schedule, Part { share: every, connections: most });
            thread.spawner.spawn(task);
        }
        Load::Timed(times) => {
            let plan = Arc::clone(&thread.plan);
            let schedule = Schedule::replaying(times, &shares, options.seed);
            let arrivals = schedule.enumerate().map(move |(index, arrival)| {
                let object = plan.sequence.get(index % plan.sequence.len().max(1)).copied();
                Planned { object, ..Planned::from(arrival) }
            });
            let task = open_loop(
                Rc::clone(thread),
                source,
                arrivals,
                Part { share: thread.share, connections: None },
            );
            thread.spawner.spawn(task);
        }
        Load::Closed { clients, think, .. } => {
            let steps = options.ramp_steps();
            let depth = options.protocol.pipeline.map_or(1, |depth| depth.get());
            thread.reactor.batch(thread.share.part(*clients).saturating_mul(depth));
            let pauses = if options.pauses { Pauses::Made } else { Pauses::Skipped };
            let clients = Clients { most: *clients, steps, think: *think, pauses, seed: options.seed, depth };
            closed_loop(thread, &source, clients);
        }
    }
}

/// Whether each thread has arrivals of its own: several Poisson processes make one. All other
/// processes are dealt out, arrival by arrival.
fn is_split(options: &Options, share: Share) -> bool {
    share.of > 1 && matches!(options.load, Load::Open { process: Process::Poisson, .. })
}

/// The rate over the run: during the warm-up that of the first step, after the window that of
/// the last.
fn profile(options: &Options) -> Profile {
    match &options.load {
        Load::Open { ramp: Some(ramp), .. } => ramp.profile(options.warmup),
        Load::Open { rate, .. } => Profile::constant(*rate),
        Load::Timed(_) | Load::Closed { .. } => Profile::steps([]),
    }
}
