//! Models by hub name, against a local server that answers as the hub does.
//!
//! The hub's address and cache are environment variables, so each case runs in a process of its
//! own: the test starts itself again with them set.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use common::*;
use tabsegnet_encoder::load;

const NAME: &str = "example/small-model";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Serves one model; returns its address and the number of requests so far.
fn serve(model: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counter.fetch_add(1, Ordering::Relaxed);
            answer(stream.unwrap(), model);
        }
    });
    (address, requests)
}

fn answer(mut stream: TcpStream, model: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    reader.read_line(&mut request).unwrap();
    let mut range = None;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap() == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("range")
        {
            let (first, last) = value.trim().strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            range = Some((first.parse::<usize>().unwrap(), last.parse::<usize>().ok()));
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let file = path.strip_prefix(&format!("/{NAME}/resolve/main/"));
    let content = file.and_then(|file| std::fs::read(reference(model).join(file)).ok());
    let (status, body) = match (&content, range) {
        (Some(content), Some((first, last))) => {
            let last = last.unwrap_or(content.len() - 1);
            let range = format!("206 Partial Content\r\nContent-Range: bytes {first}-{last}/{}", content.len());
            (range, &content[first..=last])
        }
        (Some(content), None) => ("200 OK".to_owned(), &content[..]),
        (None, _) => ("404 Not Found".to_owned(), &b"no such file"[..]),
    };
    let etag = file.unwrap_or_default().replace('/', "-");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"{etag}\"\r\nX-Repo-Commit: {COMMIT}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A client that goes away is its own affair.
    let _ = stream.write_all(head.as_bytes());
    if request.starts_with("GET") {
        let _ = stream.write_all(body);
    }
}

/// A port that nobody listens to.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// What opening `name` in a process of its own says: the identity, or the error.
fn open_in_child(name: &str, endpoint: &str, cache: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env("TABSEGNET_TEST_MODEL", name)
        .env("HF_ENDPOINT", endpoint)
        .env("HF_HOME", cache)
        .env_remove("HF_HUB_CACHE")
        .env_remove("HUGGINGFACE_HUB_CACHE")
        .env_remove("HF_HUB_OFFLINE")
        .env_remove("HF_TOKEN")
        .env_remove("ALL_PROXY")
        .env_remove("all_proxy")
        .env_remove("HTTPS_PROXY")
        .env_remove("https_proxy")
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let printed = text.lines().find_map(|line| line.split_once("PRINTED ")).map(|(_, printed)| printed.to_owned());
    printed.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn child() {
    let Ok(name) = std::env::var("TABSEGNET_TEST_MODEL") else {
        return;
    };
    match load(&bert(Path::new(&name))) {
        Ok(encoder) => println!("PRINTED {}", encoder.identity()),
        Err(error) => println!("PRINTED {error}"),
    }
}

static IDENTITY: LazyLock<String> = LazyLock::new(|| open(&bert(&reference("bert"))).identity().to_owned());

#[test]
fn a_model_comes_from_the_hub_once_and_then_from_its_cache() {
    let cache = tempfile::tempdir().unwrap();
    let (hub, requests) = serve("bert");
    assert_eq!(open_in_child(NAME, &hub, cache.path()), *IDENTITY);
    let first = requests.load(Ordering::Relaxed);
    assert!(first > 0);
    assert_eq!(open_in_child(NAME, &hub, cache.path()), *IDENTITY);
    assert_eq!(requests.load(Ordering::Relaxed), first);
    assert_eq!(open_in_child(NAME, &nobody(), cache.path()), *IDENTITY);
}

#[test]
fn a_hub_that_does_not_answer_is_named_with_the_way_out() {
    let cache = tempfile::tempdir().unwrap();
    let hub = nobody();
    let error = open_in_child(NAME, &hub, cache.path());
    for part in [NAME, "revision main", &hub, "modules.json", "give `encoder.model` its directory"] {
        assert!(error.contains(part), "{error:?} does not say {part:?}");
    }
}

#[test]
fn a_repository_without_the_files_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let (hub, _) = serve("bert");
    let error = open_in_child("example/nothing", &hub, cache.path());
    assert!(error.contains("example/nothing (revision main): there is no config.json"), "{error}");
}
