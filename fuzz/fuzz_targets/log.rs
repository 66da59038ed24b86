//! The reader of log files.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    selkie_binlog::fuzz_read(data);
});
