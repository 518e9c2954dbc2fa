//! Ids without white space.

use std::borrow::Cow;

/// Percent-encodes white space, control characters and `%` itself, each byte of their UTF-8 form
/// as `%` and two hexadecimal digits; everything else stays as it is. Reversible, and the result
/// is one field to every reader that splits lines at white space.
pub fn encode_id(id: &str) -> Cow<'_, str> {
    let must_encode = |c: char| c == '%' || c.is_whitespace() || c.is_control();
    if !id.contains(must_encode) {
        return Cow::Borrowed(id);
    }
    let mut encoded = String::with_capacity(id.len() + 8);
    for c in id.chars() {
        if must_encode(c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(c);
        }
    }
    Cow::Owned(encoded)
}

/// Undoes [`encode_id`]; `None` if a `%` does not start an escape or the bytes are no UTF-8.
pub(super) fn decode_id(field: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
