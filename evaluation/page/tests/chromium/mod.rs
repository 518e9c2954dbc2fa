//! A Chromium without a window, driven by its own protocol (DevTools) over a pipe.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Events that came while an answer was awaited.
    pub events: VecDeque<Value>,
    session: String,
    calls: u64,
    _profile: tempfile::TempDir,
}

/// The browser that `TABSEGNET_CHROMIUM` names, which then must start, or one on the path.
pub fn find() -> Option<OsString> {
    if let Some(named) = std::env::var_os("TABSEGNET_CHROMIUM") {
        return Some(named);
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    names.into_iter().find(starts).map(OsString::from)
}

impl Browser {
    /// Starts the browser and opens an empty page.
    pub fn start(program: &OsString) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The protocol goes through file descriptors 3 and 4, which the shell sets up.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--no-sandbox"])
            .args(["--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(message) = message else { break };
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
            }
        });
        let (events, session) = (VecDeque::new(), String::new());
        let mut browser = Self { child, input, messages, events, session, calls: 0, _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// The result of a call of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {message}"));
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{message}: {answer}");
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    /// Opens a file in a window of a size and waits until it has been loaded.
    pub fn open(&mut self, file: &Path, width: u32, height: u32, scripts: bool) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": !scripts}));
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        let start = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            assert!(start.elapsed() < PATIENCE, "{} was not loaded", file.display());
            let event = self.messages.recv_timeout(PATIENCE).unwrap();
            self.events.push_back(event);
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != true {
            assert!(start.elapsed() < PATIENCE, "did not come about: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks with the mouse on the middle of what an expression gives, which must be in view.
    pub fn click(&mut self, element: &str) {
        let place = self.value(&format!(
            "(() => {{ const box = ({element}).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        let mut event = json!({"x": place[0], "y": place[1], "button": "left", "clickCount": 1});
        for kind in ["mousePressed", "mouseReleased"] {
            event["type"] = kind.into();
            self.call("Input.dispatchMouseEvent", event.clone());
        }
    }

    /// Presses keys one after the other, by their names (`Tab`, `ArrowDown`, `Enter`).
    pub fn press(&mut self, keys: &[&str]) {
        for key in keys {
            let (code, text) = match *key {
                "Tab" => (9, ""),
                "Enter" => (13, "\r"),
                "Escape" => (27, ""),
                "ArrowLeft" => (37, ""),
                "ArrowUp" => (38, ""),
                "ArrowRight" => (39, ""),
                "ArrowDown" => (40, ""),
                other => panic!("{other}: no such key here"),
            };
            let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
            let event = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
