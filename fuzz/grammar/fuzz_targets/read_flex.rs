#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| grammar_fuzz::read_flex(data));
