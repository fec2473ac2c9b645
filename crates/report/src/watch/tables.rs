//! The paper's tables, filled with what was measured.

use catalogue::Metric;
use catalogue::watch::{connections, kernel, processes};
use toml::Value;

use super::watched::Watched;
use crate::cell::{Cell, Quantity};
use crate::table::{Table, TableRow};
use crate::unit::Unit;

/// What a figure of the record is shown in.
type Measure = fn(f64) -> Quantity;

/// All tables that there is something for.
pub(super) fn of(watches: &[Watched]) -> Vec<Table> {
    let tables = [requests, agreement, demands, kernel, processes, connections, interfaces, overhead];
    tables.into_iter().map(|table| table(watches)).filter(|table| !table.columns.is_empty()).collect()
}

/// Bytes per second.
fn megabits(bytes: f64) -> Quantity {
    Quantity::new(bytes * 8e-6, Unit::MegabitsPerSecond)
}

fn mebibytes(bytes: f64) -> Quantity {
    Quantity::new(bytes / 1_048_576.0, Unit::Mebibytes)
}

/// A column's name: of something within a watch, and of the watch if there are several.
fn column(watched: &Watched, name: &str) -> String {
    match (watched.name.as_str(), name) {
        ("", name) => name.to_owned(),
        (watch, "") => watch.to_owned(),
        (watch, name) => format!("{watch} · {name}"),
    }
}

fn row(name: &str, cells: impl Iterator<Item = Option<Quantity>>) -> TableRow {
    TableRow { name: name.to_owned(), cells: cells.map(Cell::from).collect() }
}

/// A column for each name below a part of the summary, of each watch, that is wanted; and rows.
fn by_name(
    watches: &[Watched],
    part: &str,
    is_wanted: impl Fn(&Watched, &str) -> bool,
    rows: &[(&str, &[&str], Measure)],
) -> (Vec<String>, Vec<TableRow>) {
    let mut columns = named(watches, part);
    columns.retain(|(watched, name)| is_wanted(watched, name));
    let cell = |(watched, name): &(&Watched, String), path: &[&str], measure: Measure| {
        watched.figure(&[&[part, name.as_str()], path].concat()).map(measure)
    };
    let rows = rows
        .iter()
        .map(|(name, path, measure)| row(name, columns.iter().map(|column| cell(column, path, *measure))));
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
            ("requests", &["rate"], Quantity::rate),
            ("connections that begin with one", &["connections"], Quantity::rate),
            ("handed to the kernel", &["bytes_rate"], megabits),
            ("reads per request", &["reads"], Quantity::number),
            ("writes per request", &["writes"], Quantity::number),
            ("blocks read per request", &["blocks"], Quantity::number),
            ("blocks changed per request", &["blocks_written"], Quantity::number),
            ("parse, processor", &["phases", "parse", "cpu", "mean"], Quantity::seconds),
            ("process, processor", &["phases", "process", "cpu", "mean"], Quantity::seconds),
            ("log, processor", &["phases", "log", "cpu", "mean"], Quantity::seconds),
            ("parse, elapsed", &["phases", "parse", "elapsed", "mean"], Quantity::seconds),
            ("process, elapsed", &["phases", "process", "elapsed", "mean"], Quantity::seconds),
            ("log, elapsed", &["phases", "log", "elapsed", "mean"], Quantity::seconds),
            ("in user mode", &["cpu_user"], Quantity::seconds),
            ("in the kernel", &["cpu_kernel"], Quantity::seconds),
            ("in soft interrupts", &["cpu_soft_interrupt"], Quantity::seconds),
            ("asleep until a disk had answered", &["disk_wait"], Quantity::seconds),
            ("median duration", &["duration", "p50"], Quantity::seconds),
            ("99th percentile", &["duration", "p99"], Quantity::seconds),
            ("requests that were followed", &["count"], Quantity::number),
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
        let seconds = watched
            .figure(&["followed", "watched"])
            .filter(|watched| counted && *watched > 0.0)
            .unwrap_or(whole);
        let megabytes: Measure = |bytes| Quantity::new(bytes / 1e6, Unit::Megabytes);
        let exactly: Measure = Quantity::count;
        let connections = watched.figure(&["waits", "connections"]).unwrap_or(0.0);
        for (row, ours, theirs, measure) in [
            (0, connections, client.connections, exactly),
            (1, watched.sum("rate"), client.responses, exactly),
            (2, watched.sum("bytes_rate"), client.bytes, megabytes),
        ] {
            let (ours, theirs) = (ours * seconds, theirs as f64);
            let difference = Quantity::new(ours / theirs.max(1.0) - 1.0, Unit::Difference);
            rows[row].extend([measure(ours), measure(theirs), difference].map(Some));
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
    let interval = |part: &'static str, measure: Measure| {
        move |watched: &Watched, class: &str| {
            let estimate = watched.summary.get("demands")?.get(class)?.get(part)?;
            let [low, high] = [0, 1].map(|end| estimate.get("ci").and_then(|ci| ci.get(end)?.as_f64()));
            let ci = low.zip(high).map(|(low, high)| [low.max(0.0), high].map(|end| measure(end).value));
            Some(Quantity { ci, ..measure(estimate.get("mean")?.as_f64()?) })
        }
    };
    let columns = named(watches, "demands");
    let bytes: Measure = |bytes| Quantity::new(bytes / 1e3, Unit::Kilobytes);
    let rows = [
        ("processor, user mode", "cpu_user", Quantity::seconds as Measure),
        ("processor, kernel", "cpu_kernel", Quantity::seconds),
        ("processor, soft interrupts", "cpu_soft_interrupt", Quantity::seconds),
        ("disk", "disk", Quantity::seconds),
        ("network", "network", bytes),
    ];
    let rows = rows.into_iter().map(|(name, part, measure)| {
        let cell = interval(part, measure);
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
    let kibibytes: Measure = |kibibytes| Quantity::new(kibibytes, Unit::KibibytesPerSecond);
    let rows: [(&str, Metric, Measure); 18] = [
        ("user mode", kernel::CPU_USER, Quantity::percent),
        ("kernel", kernel::CPU_SYSTEM, Quantity::percent),
        ("interrupts", kernel::CPU_INTERRUPT, Quantity::percent),
        ("soft interrupts", kernel::CPU_SOFT_INTERRUPT, Quantity::percent),
        ("stolen by the hypervisor", kernel::CPU_STOLEN, Quantity::percent),
        ("idle, with somebody waiting for a disk", kernel::CPU_IO_WAIT, Quantity::percent),
        ("idle", kernel::CPU_IDLE, Quantity::percent),
        ("reads from disks", kernel::READS, Quantity::rate),
        ("writes to disks", kernel::WRITES, Quantity::rate),
        ("blocks read", kernel::BLOCKS_READ, Quantity::rate),
        ("blocks written", kernel::BLOCKS_WRITTEN, Quantity::rate),
        ("paged in", kernel::PAGED_IN, kibibytes),
        ("paged out", kernel::PAGED_OUT, kibibytes),
        ("major faults", kernel::MAJOR_FAULTS, Quantity::rate),
        ("interrupts of all kinds", kernel::INTERRUPTS, Quantity::rate),
        ("interrupts of the network", kernel::NETWORK_INTERRUPTS, Quantity::rate),
        ("interrupts of disks", kernel::DISK_INTERRUPTS, Quantity::rate),
        ("context switches", kernel::CONTEXT_SWITCHES, Quantity::rate),
    ];
    let watches: Vec<_> = watches.iter().filter(|watched| watched.summary.get("kernel").is_some()).collect();
    let columns = watches
        .iter()
        .flat_map(|watched| ["over all of the time", "least", "most"].map(|name| column(watched, name)));
    let columns = columns.collect();
    let rows = rows.iter().map(|(name, metric, measure)| {
        // The summary has figures in objects by the parts of their names.
        let path: Vec<&str> = metric.name().split('.').collect();
        let cells = watches.iter().flat_map(|watched| {
            let values = watched.samples(*metric, "").iter().map(|(_, value)| *value);
            let (least, most) = (values.clone().reduce(f64::min), values.reduce(f64::max));
            [watched.figure(&path), least, most].map(|value| value.map(measure))
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
    let cell = |name: &str, read: &dyn Fn(&Watched, &str) -> Option<Quantity>| {
        row(name, columns.iter().map(|(watched, program)| read(watched, program)))
    };
    let rows = vec![
        cell("processors in use", &|watched, program| {
            watched.figure(&["processes", program, "cpu"]).map(Quantity::number)
        }),
        cell("memory", &|watched, program| mean(watched, processes::MEMORY, program).map(mebibytes)),
        cell("memory, of the machine’s", &|watched, program| {
            let machine = watched.environment.as_ref().map(|environment| environment.memory as f64)?;
            mean(watched, processes::MEMORY, program).map(|bytes| Quantity::percent(bytes / machine))
        }),
        cell("processes", &|watched, program| {
            mean(watched, processes::PROCESSES, program).map(Quantity::number)
        }),
        cell("threads", &|watched, program| mean(watched, processes::THREADS, program).map(Quantity::number)),
        cell("running or ready to run", &|watched, program| {
            mean(watched, processes::RUNNING, program).map(Quantity::number)
        }),
        cell("major faults", &|watched, program| {
            watched.figure(&["processes", program, "major_faults"]).map(Quantity::rate)
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
        let mean = stats::mean_with_absent(values.iter().map(|(_, value)| *value), looks);
        let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        [Some(Quantity::number(mean)), Some(Quantity::number(most))]
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
            ["mean", "max"].map(|figure| watched.figure(&["waits", wait, figure]).map(Quantity::seconds))
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
            ("packets received", &["received_packets"], Quantity::rate),
            ("received with errors", &["received_errors"], Quantity::rate),
            ("received and dropped", &["received_drops"], Quantity::rate),
            ("sent", &["sent_bytes"], megabits),
            ("packets sent", &["sent_packets"], Quantity::rate),
            ("sent with errors", &["sent_errors"], Quantity::rate),
            ("not sent for want of room", &["sent_drops"], Quantity::rate),
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
    let cell = |name: &str, read: &dyn Fn(&Watched) -> Option<Quantity>| row(name, watches.iter().map(read));
    let length = |watched: &Watched| Some(Quantity::seconds(watched.info.window.length().as_secs_f64()));
    let share = |path: &'static [&str]| move |watched: &Watched| watched.figure(path).map(Quantity::percent);
    let time = |path: &'static [&str]| move |watched: &Watched| watched.figure(path).map(Quantity::seconds);
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
