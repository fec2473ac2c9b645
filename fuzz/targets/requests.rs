//! See [`gate::fuzz::requests`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::fuzz::requests(data));
