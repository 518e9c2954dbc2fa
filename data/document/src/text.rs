//! Plain text: paragraphs are parted by blank lines.

use crate::builder::Builder;

/// Reads a text.
pub(crate) fn read(text: &str, builder: &mut Builder) {
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        let line = line.trim();
        if line.is_empty() {
            builder.paragraph::<()>(&std::mem::take(&mut paragraph), &[]);
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph += line;
        }
    }
}
