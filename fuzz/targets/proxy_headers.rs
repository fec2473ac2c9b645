//! See [`gate::fuzz::proxy_headers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gate::fuzz::proxy_headers(data));
