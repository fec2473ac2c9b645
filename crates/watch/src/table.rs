//! What was seen as lines of text: one for the machine, one for each program, port and interface in use.

use record::{PhaseName, Quantiles, Timestamp};

use crate::requests::{Followed, Waits, by_size};
use crate::{Summary, kernel};

/// The names of the kernel's columns, above its lines.
pub const KERNEL_HEADING: &str = "  user%   sys%   irq%  soft% steal%   iow%  idle%  runq     cs/s    irq/s  net-irq  dsk-irq     rd/s     wr/s   rKiB/s   wKiB/s       UTC\n";

impl Summary {
    /// The lines; the first, if the kernel was looked at, has the columns of [`KERNEL_HEADING`].
    pub fn lines(&self) -> String {
        self.kernel.as_ref().map_or_else(String::new, kernel_line) + &self.details()
    }

    /// The same with a time of day behind the columns of the kernel.
    pub fn lines_at(&self, now: Timestamp) -> String {
        let line = self.kernel.as_ref().map(kernel_line);
        let line = line.map(|line| format!("{}  {}\n", line.trim_end_matches('\n'), time_of_day(now)));
        line.unwrap_or_default() + &self.details()
    }

    /// Below the line for the machine.
    fn details(&self) -> String {
        let mut text = String::new();
        for (name, program) in &self.processes {
            text += &format!(
                "        {name}: {:.1} % cpu, {:.1} MiB, {} processes, {} threads, {} running, {:.0} major faults/s\n",
                program.cpu * 100.0,
                program.memory as f64 / 1048576.0,
                program.processes,
                program.threads,
                program.running,
                program.major_faults,
            );
        }
        if !self.connections.is_empty() {
            let states = self.connections.iter().map(|(state, count)| format!("{state} {count}"));
            text += &format!("        connections: {}\n", states.collect::<Vec<_>>().join(", "));
        }
        for (port, queue) in &self.listen_queues {
            let room = queue.room.map_or_else(String::new, |room| format!(" of {room}"));
            let drops = queue.drops.map_or_else(String::new, |drops| format!(", {drops:.0} dropped/s"));
            text += &format!("        port {port}: {}{room} wait to be accepted{drops}\n", queue.waiting);
        }
        text += &self.requests_table();
        for (name, interface) in &self.network {
            // Interfaces that nothing uses there are many.
            if interface.received_packets + interface.sent_packets > 0.0 {
                text += &format!(
                    "        {name}: in {:.2} Mbit/s, {:.0} packets/s, {:.0} errors/s, {:.0} drops/s; out {:.2} Mbit/s, {:.0} packets/s, {:.0} errors/s, {:.0} drops/s\n",
                    interface.received_bytes * 8e-6,
                    interface.received_packets,
                    interface.received_errors,
                    interface.received_drops,
                    interface.sent_bytes * 8e-6,
                    interface.sent_packets,
                    interface.sent_errors,
                    interface.sent_drops,
                );
            }
        }
        text
    }

    /// Responses by status, where there was another than success.
    fn statuses(&self) -> String {
        let all = self.followed.and_then(|followed| followed.status).unwrap_or_default();
        let counts = all.all().into_iter().filter(|(_, count)| count.cast_signed() > 0);
        let shown: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
        if shown.is_empty() { String::new() } else { format!("        status: {}\n", shown.join(", ")) }
    }

    /// Requests by class: their rate, and what one of them costs.
    fn requests_table(&self) -> String {
        let Some(followed) = &self.followed else { return String::new() };
        if self.requests.is_empty() {
            let nothing = followed.watched > 0.0 || followed.status.is_some();
            let why = if nothing { "none" } else { "none followed: no window was open" };
            return format!("        requests: {why}\n{}", not_counted(followed));
        }
        let mut text = format!(
            "        {:<12}{:>9}{:>9}{:>7}{:>7}{:>9} |{:>9}{:>9}{:>8} |{:>10}{:>10}{:>10}{:>10}\n",
            "requests",
            "req/s",
            "Mbit/s",
            "reads",
            "writes",
            "blocks",
            "us user",
            "kernel",
            "soft",
            "ms parse",
            "process",
            "log",
            "p99",
        );
        for (class, rates) in by_size(&self.requests) {
            let elapsed = |phase: PhaseName| &rates.phases[phase.name()].elapsed;
            let [parse, process, log] = PhaseName::ALL.map(|phase| elapsed(phase).mean * 1e3);
            text += &format!("        {class:<12}{:>9.1}{:>9.2}", rates.rate, rates.bytes_rate * 8e-6);
            if rates.followed == 0 {
                text += "  (none of them was followed: what one costs is not known)\n";
                continue;
            }
            text += &format!(
                "{:>7.1}{:>7.1}{:>9.1} |{:>9.1}{:>9.1}{:>8.1} |{parse:>10.3}{process:>10.3}{log:>10.3}{:>10.3}\n",
                rates.reads,
                rates.writes,
                rates.blocks,
                rates.cpu_user * 1e6,
                rates.cpu_kernel * 1e6,
                rates.cpu_soft_interrupt * 1e6,
                elapsed(PhaseName::Process).p99 * 1e3,
            );
        }
        text += &self.statuses();
        text += &not_counted(followed);
        if let Some(waits) = &self.waits {
            // Of none that was followed nothing is known.
            let ms = |all: &Quantiles| match all.count {
                0 => "unknown".to_owned(),
                _ => format!("mean {:.3}, p99 {:.3}", all.mean * 1e3, all.p99 * 1e3),
            };
            let Waits { connections, accept, read } = waits;
            text += &format!(
                "        waits: {connections:.1} connections/s, ms to be accepted {}; requests, ms to be read {}\n",
                ms(accept),
                ms(read),
            );
        }
        text
    }
}

/// Why rates are estimates, and how good they are.
fn not_counted(followed: &Followed) -> String {
    let why = followed.not_counted();
    if why.is_empty() {
        return String::new();
    }
    format!("        not counted one by one: {}; rates are estimates\n", why.join("; "))
}

/// The time of day in UTC, to a second.
fn time_of_day(now: Timestamp) -> String {
    now.to_string().get(11..19).map(str::to_owned).unwrap_or_default()
}

fn kernel_line(k: &kernel::Rates) -> String {
    let mut text = String::new();
    for share in [
        k.cpu_user,
        k.cpu_system,
        k.cpu_interrupt,
        k.cpu_soft_interrupt,
        k.cpu_stolen,
        k.cpu_io_wait,
        k.cpu_idle,
    ] {
        text += &format!("{:7.1}", share * 100.0);
    }
    text += &format!("{:6}", k.run_queue);
    for rate in [k.context_switches, k.interrupts, k.network_interrupts, k.disk_interrupts, k.reads, k.writes]
    {
        text += &format!("{rate:9.0}");
    }
    text + &format!("{:9.0}{:9.0}\n", k.blocks_read / 2.0, k.blocks_written / 2.0)
}
