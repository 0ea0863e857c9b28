#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| grammar_formats_testing::parse(data));
