//! Bytes of a text file as text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Decodes by byte order mark, else as UTF-16 where every other byte is 0, else as UTF-8 where it
/// is that, else by the charset that the first kilobyte names (`charset=…`, `encoding="…"`), else as
/// Windows-1252. Never fails: what cannot be decoded becomes U+FFFD. The second value says what was
/// guessed or lost. Lines that end in a carriage return alone, all of them, end in a line feed then.
pub fn decode(bytes: Vec<u8>) -> (String, Option<String>) {
    let (text, warning) = decoded(bytes);
    let by_return = text.contains('\r') && !text.contains('\n');
    (if by_return { text.replace('\r', "\n") } else { text }, warning)
}

fn decoded(bytes: Vec<u8>) -> (String, Option<String>) {
    if let Some(encoding) = utf16(&bytes).or_else(|| Encoding::for_bom(&bytes).map(|(encoding, _)| encoding)) {
        let (text, bad) = encoding.decode_with_bom_removal(&bytes);
        return (text.into_owned(), bad.then(|| undecodable(encoding)));
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error.into_bytes(),
    };
    let named = named(&bytes).filter(|named| *named != UTF_8);
    let encoding = named.unwrap_or(WINDOWS_1252);
    let (text, bad) = encoding.decode_without_bom_handling(&bytes);
    let guessed = || "the text is no UTF-8 and names no encoding; it was read as windows-1252".to_owned();
    let warning = if bad { Some(undecodable(encoding)) } else { named.is_none().then(guessed) };
    (text.into_owned(), warning)
}

fn undecodable(encoding: &'static Encoding) -> String {
    format!("some bytes are no text in {} and became \u{fffd}", encoding.name())
}

/// The UTF-16 that a text is in, by its byte order mark or, in Western texts, by the bytes that are
/// 0: nearly all high ones, and hardly a low one.
pub(crate) fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding).filter(|encoding| *encoding != UTF_8);
    }
    let head = &bytes[..bytes.len().min(8192)];
    let pairs = head.len() / 2;
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let text = |zero: usize, other: usize| pairs >= 4 && zero * 10 >= pairs * 9 && other * 50 <= pairs;
    if text(second, first) {
        Some(UTF_16LE)
    } else if text(first, second) {
        Some(UTF_16BE)
    } else {
        None
    }
}

fn named(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    ["charset=", "encoding="].iter().find_map(|key| {
        let label = head.split_once(key)?.1.trim_start_matches(['"', '\'']);
        let end = label.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(label.len());
        Encoding::for_label(&label.as_bytes()[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn encodings() {
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()), ("a".into(), None));
        assert_eq!(decode("é".into()), ("é".into(), None));
        assert_eq!((decode("a\rb\r".into()).0, decode("a\r\nb\rc".into()).0), ("a\nb\n".into(), "a\r\nb\rc".into()));
        assert_eq!(decode(b"\xff\xfea\0".to_vec()), ("a".into(), None));
        assert_eq!(
            decode(b"<meta charset=\"iso-8859-2\">\xa3".to_vec()),
            ("<meta charset=\"iso-8859-2\">Ł".into(), None)
        );
    }

    #[test]
    fn what_is_guessed_or_lost_is_said() {
        let (text, warning) = decode(b"5 \x80".to_vec());
        assert_eq!(text, "5 €");
        assert!(warning.is_some_and(|warning| warning.contains("read as windows-1252")));
        let (text, warning) = decode(b"\xff\xfea\0\x00\xd8".to_vec());
        assert_eq!(text, "a\u{fffd}");
        assert!(warning.is_some_and(|warning| warning.contains("UTF-16LE")));
    }

    #[test]
    fn utf_16_is_known_without_a_mark() {
        let text = "Revenue rose; müde.";
        let units = || text.encode_utf16();
        assert_eq!(decode(units().flat_map(u16::to_le_bytes).collect()), (text.into(), None));
        assert_eq!(decode(units().flat_map(u16::to_be_bytes).collect()), (text.into(), None));
        assert_eq!(super::utf16(&[0, 1, 2, 0, 0, 0, 9, 0, 0, 3]), None);
    }
}
