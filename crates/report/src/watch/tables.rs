//! The paper's tables, filled with what was measured.

use catalogue::Metric;
use catalogue::watch::{connections, kernel, processes};
use toml::Value;

use super::watched::Watched;
use crate::table::{Table, TableRow};
use crate::text::{number, percent, seconds};

/// How a figure is written.
type Written = fn(f64) -> String;

const NOTHING: &str = "–";

/// All tables that there is something for.
pub(super) fn of(watches: &[Watched]) -> Vec<Table> {
    let tables = [requests, agreement, demands, kernel, processes, connections, interfaces, overhead];
    tables.into_iter().map(|table| table(watches)).filter(|table| !table.columns.is_empty()).collect()
}

fn per_second(rate: f64) -> String {
    format!("{}/s", number(rate))
}

fn megabits(bytes: f64) -> String {
    format!("{} Mbit/s", number(bytes * 8e-6))
}

fn mebibytes(bytes: f64) -> String {
    format!("{} MiB", number(bytes / 1_048_576.0))
}

/// A column's name: of something within a watch, and of the watch if there are several.
fn column(watched: &Watched, name: &str) -> String {
    match (watched.name.as_str(), name) {
        ("", name) => name.to_owned(),
        (watch, "") => watch.to_owned(),
        (watch, name) => format!("{watch} · {name}"),
    }
}

fn row(name: &str, cells: impl Iterator<Item = Option<String>>) -> TableRow {
    let cells = cells.map(|cell| cell.unwrap_or_else(|| NOTHING.to_owned())).collect();
    TableRow { name: name.to_owned(), cells }
}

/// A column for each name below a part of the summary, of each watch, that is wanted; and rows.
fn by_name(
    watches: &[Watched],
    part: &str,
    is_wanted: impl Fn(&Watched, &str) -> bool,
    rows: &[(&str, &[&str], Written)],
) -> (Vec<String>, Vec<TableRow>) {
    let mut columns = named(watches, part);
    columns.retain(|(watched, name)| is_wanted(watched, name));
    let cell = |(watched, name): &(&Watched, String), path: &[&str], written: Written| {
        watched.figure(&[&[part, name.as_str()], path].concat()).map(written)
    };
    let rows = rows
        .iter()
        .map(|(name, path, written)| row(name, columns.iter().map(|column| cell(column, path, *written))));
    let rows = rows.collect();
    (names(&columns), rows)
}

/// The names below a part of the summary, of each watch.
fn named<'a>(watches: &'a [Watched], part: &str) -> Vec<(&'a Watched, String)> {
    let names = |watched: &'a Watched| watched.names(part).into_iter().map(move |name| (watched, name));
    watches.iter().flat_map(names).collect()
}

fn names(columns: &[(&Watched, String)]) -> Vec<String> {
    columns.iter().map(|(watched, name)| column(watched, name)).collect()
}

fn requests(watches: &[Watched]) -> Table {
    let (columns, rows) = by_name(
        watches,
        "requests",
        |_, _| true,
        &[
            ("requests", &["rate"], per_second),
            ("handed to the kernel", &["bytes_rate"], megabits),
            ("reads per request", &["reads"], number),
            ("writes per request", &["writes"], number),
            ("blocks read per request", &["blocks"], number),
            ("parse, processor", &["phases", "parse", "cpu", "mean"], seconds),
            ("process, processor", &["phases", "process", "cpu", "mean"], seconds),
            ("log, processor", &["phases", "log", "cpu", "mean"], seconds),
            ("parse, elapsed", &["phases", "parse", "elapsed", "mean"], seconds),
            ("process, elapsed", &["phases", "process", "elapsed", "mean"], seconds),
            ("log, elapsed", &["phases", "log", "elapsed", "mean"], seconds),
            ("in user mode", &["cpu_user"], seconds),
            ("in the kernel", &["cpu_kernel"], seconds),
            ("in soft interrupts", &["cpu_soft_interrupt"], seconds),
            ("asleep until a disk had answered", &["disk_wait"], seconds),
            ("median duration", &["duration", "p50"], seconds),
            ("99th percentile", &["duration", "p99"], seconds),
            ("requests that were followed", &["count"], number),
        ],
    );
    Table {
        id: "requests".to_owned(),
        title: "Requests, class by class".to_owned(),
        place: "Tables 5, 11 and 12".to_owned(),
        hint: "Means over the requests that were followed, by the size of the response. A phase’s processor time is what its thread used, without interrupts; what lies between that and the time that elapsed is waiting.".to_owned(),
        of: "A request".to_owned(),
        columns,
        rows,
    }
}

/// What the load generator saw of the same time.
fn agreement(watches: &[Watched]) -> Table {
    let (mut columns, mut rows) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    for watched in watches {
        let Some(client) = &watched.client else { continue };
        if watched.names("requests").is_empty() {
            continue;
        }
        columns.extend(["watched", "load generator", "difference"].map(|name| column(watched, name)));
        // Where every request was followed they were counted; else they are estimated for all of the time.
        let counted = watched.info.spec.get("budget").and_then(Value::as_str) == Some("none");
        let whole = watched.info.window.length().as_secs_f64();
        let seconds = watched.figure(&["followed", "watched"]).filter(|_| counted).unwrap_or(whole);
        let megabytes: Written = |bytes| format!("{} MB", number(bytes / 1e6));
        let exactly: Written = |count| format!("{count:.0}");
        let connections = watched.figure(&["waits", "connections"]).unwrap_or(0.0);
        for (row, ours, theirs, written) in [
            (0, connections, client.connections, exactly),
            (1, watched.sum("rate"), client.responses, exactly),
            (2, watched.sum("bytes_rate"), client.bytes, megabytes),
        ] {
            let (ours, theirs) = (ours * seconds, theirs as f64);
            let difference = format!("{:+.2} %", (ours / theirs.max(1.0) - 1.0) * 100.0);
            rows[row].extend([written(ours), written(theirs), difference].map(Some));
        }
    }
    let names = ["connections", "responses", "bytes"];
    Table {
        id: "agreement".to_owned(),
        title: "What both ends saw".to_owned(),
        place: "Table 6".to_owned(),
        hint: "The watch counts what ended while it lasted, headers included; the load generator all complete responses, in its measuring window or not, bodies alone. Where the watch begins before the load and ends after it, both count the same.".to_owned(),
        of: "In all".to_owned(),
        columns,
        rows: names.into_iter().zip(rows).map(|(name, cells)| row(name, cells.into_iter())).collect(),
    }
}

fn demands(watches: &[Watched]) -> Table {
    let interval = |part: &'static str, written: Written| {
        move |watched: &Watched, class: &str| {
            let estimate = watched.summary.get("demands")?.get(class)?.get(part)?;
            let [low, high] = [0, 1].map(|end| estimate.get("ci").and_then(|ci| ci.get(end)?.as_f64()));
            let mean = written(estimate.get("mean")?.as_f64()?);
            Some(match low.zip(high) {
                Some((low, high)) => format!("{mean} ({} to {})", written(low.max(0.0)), written(high)),
                None => mean,
            })
        }
    };
    let columns = named(watches, "demands");
    let bytes: Written = |bytes| format!("{} kB", number(bytes / 1e3));
    let rows = [
        ("processor, user mode", "cpu_user", seconds as Written),
        ("processor, kernel", "cpu_kernel", seconds),
        ("processor, soft interrupts", "cpu_soft_interrupt", seconds),
        ("disk", "disk", seconds),
        ("network", "network", bytes),
    ];
    let rows = rows.into_iter().map(|(name, part, written)| {
        let cell = interval(part, written);
        row(name, columns.iter().map(|(watched, class)| cell(watched, class)))
    });
    let rows = rows.collect();
    Table {
        id: "demands".to_owned(),
        title: "What a request needs of each resource".to_owned(),
        place: String::new(),
        hint: "Service demands, without waiting for processors, and their 95 % intervals over windows or looks. headworks sim --from predicts with them.".to_owned(),
        of: "Resource".to_owned(),
        columns: names(&columns),
        rows,
    }
}

fn kernel(watches: &[Watched]) -> Table {
    let kibibytes: Written = |kibibytes| format!("{} KiB/s", number(kibibytes));
    let rows: [(&str, Metric, Written); 18] = [
        ("user mode", kernel::CPU_USER, percent),
        ("kernel", kernel::CPU_SYSTEM, percent),
        ("interrupts", kernel::CPU_INTERRUPT, percent),
        ("soft interrupts", kernel::CPU_SOFT_INTERRUPT, percent),
        ("stolen by the hypervisor", kernel::CPU_STOLEN, percent),
        ("idle, with somebody waiting for a disk", kernel::CPU_IO_WAIT, percent),
        ("idle", kernel::CPU_IDLE, percent),
        ("reads from disks", kernel::READS, per_second),
        ("writes to disks", kernel::WRITES, per_second),
        ("blocks read", kernel::BLOCKS_READ, per_second),
        ("blocks written", kernel::BLOCKS_WRITTEN, per_second),
        ("paged in", kernel::PAGED_IN, kibibytes),
        ("paged out", kernel::PAGED_OUT, kibibytes),
        ("major faults", kernel::MAJOR_FAULTS, per_second),
        ("interrupts of all kinds", kernel::INTERRUPTS, per_second),
        ("interrupts of the network", kernel::NETWORK_INTERRUPTS, per_second),
        ("interrupts of disks", kernel::DISK_INTERRUPTS, per_second),
        ("context switches", kernel::CONTEXT_SWITCHES, per_second),
    ];
    let watches: Vec<_> = watches.iter().filter(|watched| watched.summary.get("kernel").is_some()).collect();
    let columns = watches
        .iter()
        .flat_map(|watched| ["over all of the time", "least", "most"].map(|name| column(watched, name)));
    let columns = columns.collect();
    let rows = rows.iter().map(|(name, metric, written)| {
        // The summary has figures in objects by the parts of their names.
        let path: Vec<&str> = metric.name().split('.').collect();
        let cells = watches.iter().flat_map(|watched| {
            let values = watched.samples(*metric, "").iter().map(|(_, value)| *value);
            let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
            [watched.figure(&path), least, most].map(|value| value.map(written))
        });
        row(name, cells)
    });
    Table {
        id: "kernel".to_owned(),
        title: "The kernel as a whole".to_owned(),
        place: "Tables 7 and 14".to_owned(),
        hint: "Shares are of all processors; least and most are of single looks.".to_owned(),
        of: "Quantity".to_owned(),
        rows: rows.collect(),
        columns,
    }
}

fn processes(watches: &[Watched]) -> Table {
    let columns = named(watches, "processes");
    let mean = |watched: &Watched, metric: Metric, program: &str| {
        let samples = watched.samples(metric, program);
        stats::mean(samples.iter().map(|(_, value)| *value))
    };
    let cell = |name: &str, read: &dyn Fn(&Watched, &str) -> Option<String>| {
        row(name, columns.iter().map(|(watched, program)| read(watched, program)))
    };
    let rows = vec![
        cell("processors in use", &|watched, program| {
            watched.figure(&["processes", program, "cpu"]).map(number)
        }),
        cell("memory", &|watched, program| mean(watched, processes::MEMORY, program).map(mebibytes)),
        cell("memory, of the machine’s", &|watched, program| {
            let machine = watched.environment.as_ref().map(|environment| environment.memory as f64)?;
            mean(watched, processes::MEMORY, program).map(|bytes| percent(bytes / machine))
        }),
        cell("processes", &|watched, program| mean(watched, processes::PROCESSES, program).map(number)),
        cell("threads", &|watched, program| mean(watched, processes::THREADS, program).map(number)),
        cell("running or ready to run", &|watched, program| {
            mean(watched, processes::RUNNING, program).map(number)
        }),
        cell("major faults", &|watched, program| {
            watched.figure(&["processes", program, "major_faults"]).map(per_second)
        }),
    ];
    Table {
        id: "processes".to_owned(),
        title: "What the programs used".to_owned(),
        place: "Tables 8 and 13".to_owned(),
        hint: "All processes of a name together; memory and counts are means over looks. What processes share counts for each.".to_owned(),
        of: "Quantity".to_owned(),
        columns: names(&columns),
        rows,
    }
}

fn connections(watches: &[Watched]) -> Table {
    let watches: Vec<_> =
        watches.iter().filter(|watched| !watched.labels(connections::CONNECTIONS).is_empty()).collect();
    let mut states: Vec<&str> =
        watches.iter().flat_map(|watched| watched.labels(connections::CONNECTIONS)).collect();
    states.sort_unstable();
    states.dedup();
    let columns = watches.iter().flat_map(|watched| ["mean", "most"].map(|name| column(watched, name)));
    let columns = columns.collect();
    let both = |values: &[(f64, f64)], looks: usize| {
        // A state without connections is left out of a look.
        let mean = values.iter().map(|(_, value)| value).sum::<f64>() / looks.max(1) as f64;
        let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        [Some(number(mean)), Some(number(most))]
    };
    let mut rows: Vec<TableRow> = states
        .iter()
        .map(|state| {
            let cells = watches.iter().flat_map(|watched| {
                both(
                    watched.samples(connections::CONNECTIONS, state),
                    watched.looks(connections::CONNECTIONS).len(),
                )
            });
            row(state, cells)
        })
        .collect();
    let mut ports: Vec<&str> =
        watches.iter().flat_map(|watched| watched.labels(connections::WAITING)).collect();
    ports.sort_unstable();
    ports.dedup();
    for port in ports {
        let cells = watches.iter().flat_map(|watched| {
            let samples = watched.samples(connections::WAITING, port);
            both(samples, samples.len())
        });
        rows.push(row(&format!("port {port}: wait to be accepted"), cells));
    }
    let mut waits = |name: &str, wait: &str| {
        let cells = watches.iter().flat_map(|watched| {
            ["mean", "max"].map(|figure| watched.figure(&["waits", wait, figure]).map(seconds))
        });
        rows.push(row(name, cells));
    };
    waits("from established to accepted", "accept");
    waits("from readable to read", "read");
    Table {
        id: "connections".to_owned(),
        title: "Connections by state".to_owned(),
        place: "Table 10".to_owned(),
        hint: "Over looks; below them, how long connections and requests waited for the server.".to_owned(),
        of: "State".to_owned(),
        columns,
        rows,
    }
}

fn interfaces(watches: &[Watched]) -> Table {
    // Interfaces that nothing uses there are many.
    let is_used = |watched: &Watched, name: &str| {
        let packets = ["received_packets", "sent_packets"];
        packets.iter().any(|figure| watched.figure(&["network", name, figure]).is_some_and(|rate| rate > 0.0))
    };
    let (columns, rows) = by_name(
        watches,
        "network",
        is_used,
        &[
            ("received", &["received_bytes"], megabits),
            ("packets received", &["received_packets"], per_second),
            ("received with errors", &["received_errors"], per_second),
            ("received and dropped", &["received_drops"], per_second),
            ("sent", &["sent_bytes"], megabits),
            ("packets sent", &["sent_packets"], per_second),
            ("sent with errors", &["sent_errors"], per_second),
            ("not sent for want of room", &["sent_drops"], per_second),
        ],
    );
    Table {
        id: "interfaces".to_owned(),
        title: "Network interfaces".to_owned(),
        place: "Section 5.3".to_owned(),
        hint: "Over all of the time, with the headers of the link.".to_owned(),
        of: "Quantity".to_owned(),
        columns,
        rows,
    }
}

fn overhead(watches: &[Watched]) -> Table {
    let cell = |name: &str, read: &dyn Fn(&Watched) -> Option<String>| row(name, watches.iter().map(read));
    let length = |watched: &Watched| Some(seconds(watched.info.window.length().as_secs_f64()));
    let share = |path: &'static [&str]| move |watched: &Watched| watched.figure(path).map(percent);
    let time = |path: &'static [&str]| move |watched: &Watched| watched.figure(path).map(seconds);
    Table {
        id: "overhead".to_owned(),
        title: "What watching cost".to_owned(),
        place: "Table 3".to_owned(),
        hint: "Its own account: this process, and unless every request was followed the programs in the kernel that follow requests.".to_owned(),
        of: "Quantity".to_owned(),
        columns: watches
            .iter()
            .map(|watched| column(watched, if watched.name.is_empty() { "this watch" } else { "" }))
            .collect(),
        rows: vec![
            cell("watched for", &length),
            cell("of one processor", &share(&["overhead", "cpu"])),
            cell("of the time, in which requests were followed", &share(&["overhead", "duty"])),
            cell("a look, mean", &time(&["overhead", "sample_cost", "mean"])),
            cell("a look, 99th percentile", &time(&["overhead", "sample_cost", "p99"])),
        ],
    }
}
