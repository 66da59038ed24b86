//! Every decoder of bytes from clients.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| selkie_protocol::fuzz::fuzz_decode(data));
