//! Facts about the machine that was measured on.

use record::Environment;

use super::fact::{Fact, fact};

pub(crate) fn machine(environment: &Environment) -> Vec<Fact> {
    let cpu = &environment.cpu;
    let gibibytes = environment.memory as f64 / f64::from(1 << 30);
    let busy: Vec<String> = environment.load_average.iter().map(|x| format!("{x:.2}")).collect();
    let limits: Vec<String> =
        ["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_syncookies"]
            .iter()
            .filter_map(|&name| Some(format!("{name} {}", environment.sysctls.get(name)?)))
            .collect();
    vec![
        fact("Host", format!("{}, {}", environment.host, environment.system)),
        fact("Kernel", environment.kernel.clone()),
        fact("Processors", format!("{} x {} ({})", cpu.count, cpu.model, cpu.architecture)),
        fact("Memory", format!("{gibibytes:.1} GiB")),
        fact("Load average before", busy.join(", ")),
        fact("Listen queues", limits.join(", ")),
    ]
}
