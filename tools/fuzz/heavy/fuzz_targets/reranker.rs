//! Another reranker beside a ranker without features.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tabsegnet_fuzz_heavy::rescore_with(bytes));
