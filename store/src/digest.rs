//! Digests of content.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::FileError;

/// SHA-256 over any number of parts, each framed by its length so that `["ab", "c"]` and
/// `["a", "bc"]` differ.
#[derive(Clone, Default)]
pub struct Digest(Sha256);

impl Digest {
    /// An empty digest.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one part.
    #[must_use]
    pub fn part(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The 32 bytes.
    pub fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// 64 hexadecimal digits.
    pub fn hex(self) -> String {
        hex(&self.bytes())
    }
}

/// Plain SHA-256 of bytes as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Plain SHA-256 of a file's bytes as 64 hexadecimal digits, as `sha256sum` prints it.
pub fn sha256_file(path: &Path) -> Result<String, FileError> {
    let mut file = File::open(path).map_err(FileError::at(path, "read"))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(FileError::at(path, "read"))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn digests_frame_their_parts_and_files_hash_as_sha256sum_does() {
        assert_ne!(Digest::new().part("ab").part("c").hex(), Digest::new().part("a").part("bc").hex());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        fs::write(&path, "abc").unwrap();
        assert_eq!(sha256_file(&path).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
