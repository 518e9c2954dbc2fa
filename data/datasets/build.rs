//! Tells the crate by what sources it reads: `TABSEGNET_READER`.

use std::io;

mod sources;

fn main() -> io::Result<()> {
    for folder in sources::FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
    }
    println!("cargo:rerun-if-changed=sources.rs");
    println!("cargo:rustc-env=TABSEGNET_READER={:016x}", sources::digest(&sources::FOLDERS)?);
    Ok(())
}
