//! See [`gate::fuzz::responses`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::fuzz::responses(data));
