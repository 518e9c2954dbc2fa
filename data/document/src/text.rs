//! Plain text: paragraphs are parted by blank lines.

use crate::builder::Builder;
use crate::locations::Location;

/// Reads a text.
pub(crate) fn read(text: &str, builder: &mut Builder) {
    let mut paragraph = String::new();
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        let line = line.trim();
        if line.is_empty() {
            builder.paragraph::<()>(&std::mem::take(&mut paragraph), &[]);
        } else {
            match paragraph.is_empty() {
                true => builder.at = Some(Location::Line(number)),
                false => paragraph.push(' '),
            }
            paragraph += line;
        }
    }
}
