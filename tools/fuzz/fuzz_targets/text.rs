#![no_main]

use libfuzzer_sys::fuzz_target;
use tabsegnet_document::Format;

fuzz_target!(|bytes: &[u8]| tabsegnet_fuzz::read("x.txt", Format::Text, bytes));
