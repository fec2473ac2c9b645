//! Processors: who uses them, and who is kept from it.

use catalogue::watch::{limits, processes};

use super::bounds::{BUSY, FULL, is_unread, percent};
use super::sign::Sign;
use crate::verdict::level::{Level, OUTGOING};

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
    others: f64,
    behind: f64,
    stolen: f64,
    /// Threads of the server that were ready to run and had to wait, in the mean.
    kept_waiting: f64,
    /// From how much on they are busy all the time.
    full: f64,
}

/// What is worked out for a part of a look is not known as well.
const FULL_FOR_A_PART: f64 = 0.75;

impl<'a> Processors<'a> {
    pub(super) fn of(level: &'a Level) -> Option<Self> {
        let programs = level.labels(processes::CPU);
        let programs: Vec<_> =
            programs.map(|program| (level.mean_of(processes::CPU, program), program)).collect();
        let parts = level.labels(limits::PROGRAM_PART);
        let parts: Vec<_> =
            parts.map(|part| (level.mean_of_looks(limits::PROGRAM_PART, part), part)).collect();
        let by_use = |one: &(f64, &str), other: &(f64, &str)| one.0.total_cmp(&other.0);
        let own = programs.iter().copied().max_by(by_use)?.0;
        let used = own + parts.iter().map(|(used, _)| used).sum::<f64>();
        let (_, program) = programs.into_iter().chain(parts).max_by(by_use)?;
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
            full: if level.is_stalled { FULL_FOR_A_PART } else { FULL },
        })
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
            "{program} used {used:.2} of {may:.0} processors that it may run on; they were busy {:.0} % of the time.",
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
    let (quota, throttled) =
        (level.most(limits::PROGRAM_CPU_QUOTA)?, level.highest(limits::PROGRAM_CPU_THROTTLED)?);
    let used = level.mean(processes::CPU)? + level.mean(limits::PROGRAM_PART).unwrap_or_default();
    (used >= 0.8 * quota && throttled >= 0.3).then(|| {
        Sign::sure(format!(
            "The server used {used:.2} of {quota:.2} processors that its control group may use, and had to stop in {:.0} % of all periods.",
            percent(throttled)
        ))
    })
}

/// Whether the server has no more of them, or of its quota.
pub(super) fn are_at_their_end(level: &Level) -> bool {
    server_cpu(level).is_some() || cpu_quota(level).is_some()
}

/// Handshakes of TLS take a good part of the processors where the server has no more of these: public keys, whose
/// functions are not always told by name.
pub(super) fn handshakes(level: &Level) -> Option<Sign> {
    handshakes_here(level).or_else(|| handshakes_behind(level))
}

fn handshakes_here(level: &Level) -> Option<Sign> {
    const PART: f64 = 0.35;
    /// Of all responses, connections that were made for them: what is encrypted on one that is kept has no handshake.
    const OWN: f64 = 0.1;
    let Processors { program, used, .. } = Processors::of(level)?;
    let of = |metric| level.mean_of(metric, program);
    let (named, unnamed) = (of(limits::PROGRAM_HANDSHAKES), of(limits::PROGRAM_CRYPTOGRAPHY));
    let share = (named + unnamed) / used.max(f64::MIN_POSITIVE);
    let opened = level.summary.connections.opened as f64 / level.summary.responses.max(1) as f64;
    // Those with what stands behind it are known by name alone.
    let is_asking = named / used.max(f64::MIN_POSITIVE) >= PART && level.labels(OUTGOING).next().is_some();
    let is_asked = level.is_tls && share >= PART && opened >= OWN;
    ((is_asked || is_asking) && are_at_their_end(level)).then(|| {
        let with = if is_asked {
            format!("; {:.0} connections were opened for 100 responses", percent(opened))
        } else {
            ", with what it asks".to_owned()
        };
        Sign::of(
            share / 0.5,
            format!(
                "Of the {used:.2} processors that {program} used, {:.0} % were used for handshakes of TLS and what belongs to them{with}.",
                percent(share)
            ),
        )
    })
}

/// The same of what the server asks, where that has no more of them; whatever the part is that has no name.
fn handshakes_behind(level: &Level) -> Option<Sign> {
    const PART: f64 = 0.5;
    const WHOLE: f64 = 0.75;
    let used = |program: &str| level.mean_of_looks(limits::BEHIND, program);
    let program =
        level.labels(limits::BEHIND_CRYPTOGRAPHY).max_by(|one, other| used(one).total_cmp(&used(other)))?;
    let share =
        level.mean_of_looks(limits::BEHIND_CRYPTOGRAPHY, program) / used(program).max(f64::MIN_POSITIVE);
    (used(program) >= WHOLE && share >= PART).then(|| {
        Sign::of(
            share / 0.6,
            format!(
                "Of the {:.2} processors that {program} used, which the server asks, {:.0} % were used for cryptography: what connections cost that are made anew.",
                used(program),
                percent(share)
            ),
        )
    })
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
