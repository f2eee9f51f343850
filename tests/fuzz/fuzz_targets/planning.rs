#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oneclaw_tests::fuzz::planning(data));
