//! A server that speaks as an OpenAI-compatible chat endpoint does, and fails where a test wants it to.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// What a server does with a request, one step after the other; then it closes the connection.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Says nothing for so long.
    Wait(Duration),
}

/// A request that came.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Such as `POST /v1/chat/completions`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Received {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// A server on a free port of this machine, up to when it is dropped. Connections are served one after the other.
#[derive(Debug)]
pub struct ChatServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChatServer {
    /// Answers the n-th request, from 0, with what `answer` says.
    ///
    /// # Panics
    /// Where no port is free.
    pub fn start(answer: impl Fn(usize, &Received) -> Vec<Step> + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (received, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (requests, stopped) = (Arc::clone(&received), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                // A client that goes away is what some tests are about.
                let _ = stream.and_then(|stream| serve(stream, &requests, &answer));
            }
        });
        Self { address, received, stop, thread: Some(thread) }
    }

    /// What `base_url` is to be.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Received>>,
    answer: &impl Fn(usize, &Received) -> Vec<Step>,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = Received::default();
    reader.read_line(&mut request.line)?;
    request.line = request.line.trim().trim_end_matches(" HTTP/1.1").to_owned();
    if request.line.is_empty() {
        return Ok(());
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        request.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let number = {
        let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        requests.len() - 1
    };
    for step in answer(number, &request) {
        match step {
            Step::Send(bytes) => {
                stream.write_all(&bytes)?;
                stream.flush()?;
            }
            Step::Wait(time) => std::thread::sleep(time),
        }
    }
    Ok(())
}

/// A status with headers, as `"Retry-After: 1\r\n"`, and a body.
pub fn status(status: u16, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status} Status\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    vec![Step::Send(text.into_bytes())]
}

/// A whole completion with this content, in one or, where the request wants it, piece by piece.
pub fn completion(request: &Received, content: &str) -> Vec<Step> {
    if request.body.get("stream") == Some(&Value::Bool(true)) {
        let pieces: Vec<String> = content.split_inclusive(' ').map(str::to_owned).collect();
        return streamed(&pieces, Some("stop"));
    }
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "fake",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    });
    status(200, "Content-Type: application/json\r\n", &body.to_string())
}

/// A stream of pieces; with a `finish_reason` it ends as it should, without one it is cut off.
pub fn streamed(pieces: &[String], finish: Option<&str>) -> Vec<Step> {
    let mut steps =
        vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec())];
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "fake",
               "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut send = |event: &str| steps.push(Step::Send(format!("data: {event}\n\n").into_bytes()));
    for piece in pieces {
        send(&chunk(json!({"content": piece}), None).to_string());
    }
    if let Some(finish) = finish {
        send(&chunk(json!({}), Some(finish)).to_string());
        let usage = json!({"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16});
        send(
            &json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [],
                    "usage": usage})
            .to_string(),
        );
        send("[DONE]");
    }
    steps
}
