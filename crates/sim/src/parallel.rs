//! [`in_parallel`]: a job on several cores, with results in order.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::control::Control;

/// What `job` gives for each of the numbers, in their order, computed on `cores`, or on all there are; without the
/// last of them when it is ended early.
pub(crate) fn in_parallel<T: Send>(
    cores: Option<NonZeroUsize>,
    numbers: Range<u32>,
    control: Control<'_>,
    job: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    let cores = cores.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicU32::new(numbers.start);
    let done = Mutex::new(Vec::with_capacity(numbers.len()));
    let work = || {
        while !control.is_stopped() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let result = job(number);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((number, result));
            (control.tell)(numbers.start + done.len() as u32);
        }
    };
    thread::scope(|scope| {
        (1..cores.min(numbers.len())).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
