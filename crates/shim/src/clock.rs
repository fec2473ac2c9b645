//! The time.

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    // SAFETY: there is room for it.
    unsafe {
        let mut time: libc::timespec = core::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Whole seconds of it.
pub(crate) fn now_seconds() -> i64 {
    (now() / 1_000_000_000) as i64
}

/// So many, as poll(2) counts them, as ppoll(2) does.
pub(crate) fn milliseconds(number: core::ffi::c_int) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::from(number / 1000),
        tv_nsec: core::ffi::c_long::from(number % 1000) * 1_000_000,
    }
}
