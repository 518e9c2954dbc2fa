//! What several tests of `ask` read.

use std::path::{Path, PathBuf};

/// The question that a table of [`orders`] answers by a sum.
pub const TOTAL: &str = "What was the total amount in 2019?";

/// Writes a table of 6,000 orders of ten years, and says where.
pub fn orders(folder: &Path) -> PathBuf {
    let file = folder.join("orders.csv");
    let mut rows = String::from("Order,Year,City,Amount\n");
    for row in 0..6000 {
        rows += &format!("{row},{},{},{}\n", 2010 + row / 600, ["Rome", "Oslo"][row % 2], row % 7);
    }
    std::fs::write(&file, rows).unwrap();
    file
}
