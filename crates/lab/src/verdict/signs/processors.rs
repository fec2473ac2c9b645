//! Processors: who uses them, and who is kept from it.

use catalogue::watch::{limits, processes};

use super::bounds::{BUSY, FULL, is_unread, percent};
use super::sign::Sign;
use crate::verdict::level::Level;

/// The processors on which the server may run, and what they did.
pub(super) struct Processors<'a> {
    /// Of the programs that are watched, and parts of the server, the one that used most.
    pub(super) program: &'a str,
    /// Processors that it used, and the parts.
    pub(super) used: f64,
    /// Processors that it may run on.
    pub(super) may: f64,
    /// How busy these were, from 0 to 1.
    pub(super) busy: f64,
    /// What other programs used of these, those that the server asks, and the hypervisor.
    pub(super) others: f64,
    behind: f64,
    stolen: f64,
    /// Threads of the server that were ready to run and had to wait, in the mean.
    kept_waiting: f64,
    /// From how much on they are busy all the time.
    full: f64,
    /// Whether several programs used them.
    has_parts: bool,
}

/// Sets of processors that are as busy as each other to within this share are one.
const ALIKE: f64 = 0.03;

/// What is worked out for a part of a look is not known as well.
const FULL_FOR_A_PART: f64 = 0.75;

impl<'a> Processors<'a> {
    pub(super) fn of(level: &'a Level) -> Option<Self> {
        let named =
            level.labels(processes::CPU).map(|program| (level.mean_of(processes::CPU, program), program));
        let parts = level.labels(limits::PROGRAM_PART);
        let parts = parts.map(|part| (level.mean_of_looks(limits::PROGRAM_PART, part), part));
        let all: Vec<(f64, &str)> = named.chain(parts).collect();
        let (_, program) = *all.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        let of_set = |program: &str| {
            [limits::PROGRAM_PROCESSORS, limits::PROGRAM_PROCESSORS_BUSY]
                .map(|metric| level.mean_of(metric, program))
        };
        // Programs that may run on other processors do not want for these.
        let is_there = |other: &&str| {
            let unlike =
                of_set(program).into_iter().zip(of_set(other)).map(|(one, other)| (one - other).abs());
            unlike.fold(0.0, f64::max) < ALIKE
        };
        let used = all.iter().filter(|(_, program)| is_there(program)).map(|(used, _)| used).sum();
        let may = level.mean_of(limits::PROGRAM_PROCESSORS, program).max(1.0);
        let all = |metric| level.labels(metric).map(|program| level.mean_of_looks(metric, program)).sum();
        Some(Self {
            program,
            used,
            may,
            busy: level.mean_of(limits::PROGRAM_PROCESSORS_BUSY, program),
            others: all(limits::OTHERS),
            behind: all(limits::BEHIND),
            stolen: may * level.mean_of(limits::PROGRAM_STOLEN, program),
            kept_waiting: level.mean_of(limits::PROGRAM_KEPT_WAITING, program),
            has_parts: level.labels(limits::PROGRAM_PART).next().is_some(),
            full: if level.is_stalled { FULL_FOR_A_PART } else { FULL },
        })
    }

    /// The program, and that there are others.
    pub(super) fn name(&self) -> String {
        if self.has_parts {
            format!("The server, {} most of it,", self.program)
        } else {
            self.program.to_owned()
        }
    }

    /// Whether the server has so much of them that they may be what it waits for.
    pub(super) fn are_used(&self) -> bool {
        self.own() >= 0.8 * self.may || self.is_kept_waiting() || self.is_behinds()
    }

    /// What the server used, and what the kernel did for it in interrupts, which is on no program's account.
    fn own(&self) -> f64 {
        let accounted = self.used + self.others + self.behind + self.stolen;
        self.used + (self.busy * self.may - accounted).max(0.0)
    }

    /// Whether what the server asks has most of them, and all are busy.
    pub(super) fn is_behinds(&self) -> bool {
        self.busy >= FULL && self.behind >= 0.5 * self.may && self.behind > self.used
    }

    /// Whether the server could do more if it had more of them: nearly always one of its threads runs or could.
    fn is_kept_waiting(&self) -> bool {
        self.pressure() >= BUSY
    }

    /// Threads that run or could, for each processor; nothing where these are not busy.
    fn pressure(&self) -> f64 {
        if self.busy >= self.full { (self.used + self.kept_waiting) / self.may } else { 0.0 }
    }

    /// How far that goes that others have a share of them, of which a fifth is much: less where threads of the server
    /// want one only for a part of the time.
    fn strength(&self, share: f64) -> Option<f64> {
        const SOME: f64 = 0.1;
        const PRESSURE: f64 = 0.7;
        let pressure = self.pressure();
        let strength =
            (share / (2.0 * SOME)).min(1.0) * (0.5 + 0.5 * (pressure - PRESSURE) / (BUSY - PRESSURE));
        (share >= SOME && pressure >= PRESSURE).then_some(strength.min(1.0))
    }
}

pub(super) fn server_cpu(level: &Level) -> Option<Sign> {
    let processors = Processors::of(level)?;
    let Processors { program, used, may, busy, .. } = processors;
    let own = processors.own();
    // Of what others take besides, a tenth is left out of account: it is somebody's all the time.
    let is_own = used >= 0.7 * may && own >= 0.85 * may;
    if used >= BUSY * may || (busy >= FULL && is_own) {
        return Some(Sign::sure(format!(
            "{} used {used:.2} of {may:.0} processors that it may run on; they were busy {:.0} % of the time.",
            processors.name(),
            percent(busy)
        )));
    }
    // A server with fewer threads than there are processors; a single one is another matter.
    let running = level.mean_of(limits::PROGRAM_RUNNING, program);
    let threads = used.round();
    let is_whole = threads >= 2.0 && (used - threads).abs() < 0.1 && running >= BUSY * threads;
    (is_whole && is_unread(level)).then(|| {
        Sign::sure(format!(
            "The threads of {program} used {used:.2} processors, each all of one, and requests lay unread meanwhile; it may run on {may:.0}."
        ))
    })
}

/// Somebody else has a part of the processors that the server could use.
pub(super) fn other_program(level: &Level) -> Option<Sign> {
    let processors = Processors::of(level)?;
    let Processors { used, may, others, kept_waiting, .. } = processors;
    let (most, program) = level
        .labels(limits::OTHERS)
        .map(|program| (level.mean_of_looks(limits::OTHERS, program), program))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let said = format!(
        "Other programs used {others:.2} of the {may:.0} processors that the server may run on, most of it {program} ({most:.2}), and the server {used:.2}; {kept_waiting:.1} of its threads were ready to run and had to wait."
    );
    Some(Sign::of(processors.strength(others / may)?, said))
}

/// The hypervisor has a part of them.
pub(super) fn steal(level: &Level) -> Option<Sign> {
    let processors = Processors::of(level)?;
    let share = processors.stolen / processors.may;
    let said = format!(
        "For {:.0} % of the time the hypervisor ran something else on the server's processors.",
        percent(share)
    );
    Some(Sign::of(processors.strength(share)?, said))
}

pub(super) fn cpu_quota(level: &Level) -> Option<Sign> {
    let of_group = |program: &&str| {
        [limits::PROGRAM_CPU_QUOTA, limits::PROGRAM_CPU_THROTTLED]
            .map(|metric| level.mean_of(metric, program))
    };
    let programs: Vec<&str> = level.labels(limits::PROGRAM_CPU_QUOTA).collect();
    programs.iter().find_map(|program| {
        let [quota, throttled] = of_group(program);
        // Those of one control group have one quota, and stop together.
        let with = programs.iter().filter(|other| of_group(other) == [quota, throttled]);
        let used = with.map(|program| {
            level.mean_of(processes::CPU, program) + level.mean_of_looks(limits::PROGRAM_PART, program)
        });
        let used: f64 = used.sum();
        (quota > 0.0 && used >= 0.8 * quota && throttled >= 0.3).then(|| {
            Sign::sure(format!(
                "{program} used {used:.2} of {quota:.2} processors that its control group may use, and had to stop in {:.0} % of all periods.",
                percent(throttled)
            ))
        })
    })
}

/// Whether the server has no more of them, or of its quota.
pub(super) fn are_at_their_end(level: &Level) -> bool {
    server_cpu(level).is_some() || cpu_quota(level).is_some()
}

/// What is named so takes a good part of the processors where the server has no more of these.
pub(super) fn garbage_collection(level: &Level, light: &Level) -> Option<Sign> {
    const PART: f64 = 0.3;
    let processors = Processors::of(level)?;
    let Processors { program, used, may, busy, .. } = processors;
    // Who stops for it does not have them all the time.
    let are_used = are_at_their_end(level) || busy >= 0.85 && processors.own() >= 0.75 * may;
    let collector = level.mean_of(limits::PROGRAM_COLLECTOR, program);
    let share = collector / used.max(f64::MIN_POSITIVE);
    (share >= PART && collector >= 0.2 * may && are_used).then(|| {
        Sign::of(
            share / 0.5,
            format!(
                "Of the {used:.2} processors that {program} used, {collector:.2} were used to collect garbage ({:.0} %; at {:.0}/s {:.2}).",
                percent(share),
                light.rate,
                light.mean_of(limits::PROGRAM_COLLECTOR, program)
            ),
        )
    })
}
