//! Tags with more attributes than any page has: the parser holds each against all others of its tag.

use std::borrow::Cow;

/// Attributes of a tag that are read.
pub(super) const MOST: usize = 500;

/// A page without the attributes of a tag beyond the first [`MOST`].
pub(super) fn bounded(text: &str) -> Cow<'_, str> {
    let mut kept: Option<String> = None;
    let mut copied = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find('<')).map(|found| at + found) {
        at = start + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let (end, cut) = tag(bytes, at);
        if let Some(cut) = cut {
            let page = kept.get_or_insert_default();
            page.push_str(text.get(copied..cut).unwrap_or_default());
            copied = end;
        }
        at = end;
    }
    match kept {
        Some(page) => Cow::Owned(page + text.get(copied..).unwrap_or_default()),
        None => Cow::Borrowed(text),
    }
}

/// Where a tag ends, and where the attributes begin that are too many.
fn tag(bytes: &[u8], start: usize) -> (usize, Option<usize>) {
    let (mut at, mut count, mut cut) = (start, 0, None);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'>' => break,
            // A value in quotes may hold anything.
            b'"' | b'\'' if bytes[..at].trim_ascii_end().ends_with(b"=") => {
                let value = bytes.get(at + 1..).unwrap_or_default();
                at += value.iter().position(|other| *other == byte).unwrap_or(value.len()) + 1;
            }
            _ if byte.is_ascii_whitespace() && bytes.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace()) => {
                count += 1;
                if count > MOST && cut.is_none() {
                    cut = Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (at.min(bytes.len()), cut)
}

#[cfg(test)]
mod tests {
    use super::{MOST, bounded};

    #[test]
    fn attributes_beyond_the_most_are_left_out() {
        let page = "<p class='a > b' id=x>1 < 2</p><!-- <b c> --><td colspan=2>x</td>";
        assert!(matches!(bounded(page), std::borrow::Cow::Borrowed(same) if same == page));
        let many: String = (0..MOST + 9).map(|at| format!(" a{at}='> {at}'")).collect();
        let left = bounded(&format!("<p>a<td{many} rowspan=2>b</td>")).into_owned();
        assert!(
            left.ends_with(&format!(" a{0}='> {0}'>b</td>", MOST - 1)) && left.starts_with("<p>a<td a0="),
            "{left}"
        );
        let open = bounded(&format!("<td{many}")).into_owned();
        assert!(open.ends_with(&format!("'> {}'", MOST - 1)), "{open}");
    }
}
