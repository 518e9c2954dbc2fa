//! What is kept between runs: files, digests, and one keyed store.
//!
//! Every file the project writes goes through [`write_atomic`] or [`Staging`], so that a reader
//! sees the old file or the new one and never a part, also after a crash or on a full disk. What is
//! looked up by content (vectors, texts, encoded documents) is in the [`Store`].

mod digest;
mod files;
mod keyed;
mod stdio;
mod usage;
mod words;

pub use digest::{Digest, sha256, sha256_file};
pub use files::{FileError, Staging, create_dir, read_bytes, read_text, recover, write_atomic, write_bytes_atomic};
pub use keyed::{Key, Reader, Space, Store, StoreError, default_cache_dir};
pub use stdio::{Cause, USAGE, exit, exit_saying, one_line, print, print_if_read, printable};
pub use usage::{Paths, UsageError, check_folder, check_written};
pub use words::{counted, in_words};
