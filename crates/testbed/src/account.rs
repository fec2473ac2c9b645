//! What a process has used so far, by the kernel's account.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::error::Error;

/// CPU time that the threads of a process have used so far. The scheduler's own account, in
/// nanoseconds: `stat` has ticks of 10 ms.
///
/// # Errors
/// When there is no such process.
pub fn cpu(process: u32) -> Result<Duration, Error> {
    let tasks = format!("/proc/{process}/task");
    let mut sum = Duration::ZERO;
    for task in fs::read_dir(&tasks).map_err(Error::io("read", Path::new(&tasks)))? {
        let file = task.map_err(Error::io("read", Path::new(&tasks)))?.path().join("schedstat");
        let text = match fs::read_to_string(&file) {
            // The thread has just ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text.map_err(Error::io("read", &file))?,
        };
        let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
        sum += Duration::from_nanos(ns.ok_or_else(|| not_understood(&file))?);
    }
    Ok(sum)
}

/// Time in user mode and in the kernel, in ticks: only their ratio is of use, and only over seconds.
///
/// # Errors
/// When there is no such process.
pub fn ticks(process: u32) -> Result<[u64; 2], Error> {
    read(process, "stat", parse_ticks)
}

/// Bytes of memory that are resident.
///
/// # Errors
/// When there is no such process.
pub fn resident(process: u32) -> Result<u64, Error> {
    read(process, "status", |status| kibibytes(status, "VmRSS:"))
}

/// The most bytes of memory that were resident at once.
///
/// # Errors
/// When there is no such process, or it has just ended.
pub fn peak_resident(process: u32) -> Result<u64, Error> {
    read(process, "status", |status| kibibytes(status, "VmHWM:"))
}

/// Descriptors that a process has open.
///
/// # Errors
/// When there is no such process.
pub fn descriptors(process: u32) -> Result<usize, Error> {
    let directory = format!("/proc/{process}/fd");
    Ok(fs::read_dir(&directory).map_err(Error::io("read", Path::new(&directory)))?.count())
}

fn read<T>(process: u32, file: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
    let file = format!("/proc/{process}/{file}");
    let text = fs::read_to_string(&file).map_err(Error::io("read", Path::new(&file)))?;
    parse(&text).ok_or_else(|| not_understood(Path::new(&file)))
}

fn not_understood(file: &Path) -> Error {
    Error::io("understand", file)(io::ErrorKind::InvalidData.into())
}

// proc_pid_stat(5): utime and stime are the 14th and 15th field; the second, a name in
// parentheses, may have spaces.
fn parse_ticks(stat: &str) -> Option<[u64; 2]> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?])
}

fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_are_read_from_the_kernels_tables() {
        let stat = "42 (a b) c) S 1 42 42 0 -1 4194560 1 2 3 4 137 2914 5 6 20 0 1 0 9 9 9";
        assert_eq!(parse_ticks(stat), Some([137, 2914]));
        assert_eq!(parse_ticks("42 (a"), None);
        let status = "Name:\tx\nVmHWM:\t  4096 kB\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n";
        assert_eq!(kibibytes(status, "VmRSS:"), Some(2 << 20));
        assert_eq!(kibibytes("Name:\tx\n", "VmRSS:"), None);
        let ourselves = std::process::id();
        assert!(peak_resident(ourselves).unwrap() >= 1 << 20 && descriptors(ourselves).unwrap() > 2);
        assert!(cpu(ourselves).unwrap() > Duration::ZERO);
    }
}
