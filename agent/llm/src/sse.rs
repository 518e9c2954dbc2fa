//! Server-sent events, as chat endpoints stream them.

use std::io::{self, BufRead};

/// Bytes that one event may have.
const MAX_EVENT: usize = 1 << 20;

/// The data of the events of a stream, one after the other: lines of an event are joined, comments and other fields left
/// out, any of the three line ends taken. What stands behind the last blank line is an event too: some servers forget it.
pub(crate) struct Events<R> {
    reader: R,
    ended: bool,
}

impl<R: BufRead> Events<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, ended: false }
    }

    /// The next line without its end; `None` at the end of the stream. At most [`MAX_EVENT`] bytes.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                self.ended = true;
                return Ok((!line.is_empty()).then(|| text_of(line)));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            if line.len() + taken.len() > MAX_EVENT {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "an event of more than a million bytes"));
            }
            line.extend_from_slice(taken);
            let used = taken.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(text_of(line)));
            }
        }
    }
}

fn text_of(mut line: Vec<u8>) -> String {
    while line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8_lossy(&line).into_owned()
}

impl<R: BufRead> Iterator for Events<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut data: Option<String> = None;
        while !self.ended {
            let line = match self.line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            };
            if line.is_empty() {
                if data.is_some() {
                    break;
                }
            } else if let Some(value) = line.strip_prefix("data:") {
                let value = value.strip_prefix(' ').unwrap_or(value);
                let data = data.get_or_insert_default();
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
                if data.len() > MAX_EVENT {
                    self.ended = true;
                    return Some(Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "an event of more than a million bytes",
                    )));
                }
            }
        }
        data.map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::{Events, MAX_EVENT};

    fn events(stream: &[u8], capacity: usize) -> Vec<Result<String, String>> {
        let reader = BufReader::with_capacity(capacity, Cursor::new(stream.to_vec()));
        Events::new(reader).map(|event| event.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn events_are_taken_apart() {
        let stream = ": hello\ndata: {\"a\": 1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\n\n\nid: 7\n\ndata: [DONE]\n\ndata: last";
        let expected = ["{\"a\": 1}", "two\nlines", "[DONE]", "last"].map(|event| Ok(event.to_owned()));
        for capacity in [1, 2, 7, 4096] {
            assert_eq!(events(stream.as_bytes(), capacity), expected);
        }
        assert!(events(b"", 8).is_empty());
        assert!(events(b"no field\n\n", 8).is_empty());
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let one_line = vec![b'x'; MAX_EVENT + 2];
        let lines = "data: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n".repeat(MAX_EVENT / 30);
        for stream in [one_line.as_slice(), lines.as_bytes()] {
            assert!(matches!(events(stream, 8192).as_slice(), [Err(message)] if message.contains("million")));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end(stream in prop::collection::vec(any::<u8>(), 0..400), capacity in 1..50usize) {
            prop_assert!(events(&stream, capacity).len() <= stream.len());
        }

        #[test]
        fn what_is_sent_arrives(pieces in prop::collection::vec("[^\r\n]{1,20}", 1..20), capacity in 1..50usize) {
            let stream: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
            let expected: Vec<_> = pieces.into_iter().map(Ok).collect();
            prop_assert_eq!(events(stream.as_bytes(), capacity), expected);
        }
    }
}
