//! Bytes of a text file as text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Decodes by byte order mark, else as UTF-8 where it is that, else by the charset that the first
/// kilobyte names (`charset=…`, `encoding="…"`), else as Windows-1252. Never fails: what cannot be
/// decoded becomes U+FFFD, and the second value is true.
pub(crate) fn decode(bytes: Vec<u8>) -> (String, bool) {
    if let Some((encoding, _)) = Encoding::for_bom(&bytes) {
        let (text, bad) = encoding.decode_with_bom_removal(&bytes);
        return (text.into_owned(), bad);
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, false),
        Err(error) => error.into_bytes(),
    };
    let encoding = named(&bytes).filter(|named| *named != UTF_8).unwrap_or(WINDOWS_1252);
    let (text, bad) = encoding.decode_without_bom_handling(&bytes);
    (text.into_owned(), bad)
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
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()), ("a".into(), false));
        assert_eq!(decode("é".into()), ("é".into(), false));
        assert_eq!(decode(b"\xff\xfea\0".to_vec()), ("a".into(), false));
        assert_eq!(decode(b"5 \x80".to_vec()).0, "5 €");
        assert_eq!(decode(b"<meta charset=\"iso-8859-2\">\xa3".to_vec()).0, "<meta charset=\"iso-8859-2\">Ł");
    }
}
