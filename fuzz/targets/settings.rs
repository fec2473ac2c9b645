//! See [`gate::fuzz::settings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::fuzz::settings(data));
