#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pcaplat_fuzz::stamp(bytes));
