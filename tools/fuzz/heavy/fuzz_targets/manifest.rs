//! A checkpoint with another manifest.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tabsegnet_fuzz_heavy::read_with("manifest.json", bytes));
