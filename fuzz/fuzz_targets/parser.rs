//! The parser, and what prints its trees.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    selkie_parser::fuzz_parse(data);
});
