//! The fake server of the tests is faithful: OpenAI's own client understands it.

use std::process::Command;

use tabsegnet_test_support::{ChatServer, completion, skipped, status};

const PROGRAM: &str = r#"
import sys
from openai import OpenAI, AuthenticationError, RateLimitError
client = OpenAI(base_url=sys.argv[1], api_key="sk-test", max_retries=1)
messages = [{"role": "user", "content": "What was revenue?"}]
try:
    client.with_options(max_retries=0).chat.completions.create(model="fake", messages=messages)
    sys.exit("429 is no error")
except RateLimitError as error:
    assert "slow down" in str(error), error
reply = client.chat.completions.create(model="fake", messages=messages)
assert reply.choices[0].message.content == "It was 12 million.", reply
assert reply.choices[0].finish_reason == "stop" and reply.usage.total_tokens == 16, reply
stream = client.chat.completions.create(model="fake", messages=messages, stream=True, stream_options={"include_usage": True})
pieces, usage = [], None
for chunk in stream:
    usage = chunk.usage or usage
    pieces += [choice.delta.content or "" for choice in chunk.choices]
assert "".join(pieces) == "It was 12 million." and len(pieces) > 2 and usage.total_tokens == 16, (pieces, usage)
try:
    client.chat.completions.create(model="unknown", messages=messages)
    sys.exit("401 is no error")
except AuthenticationError as error:
    assert "wrong key" in str(error), error
print("understood")
"#;

#[test]
fn openai_s_client_understands_the_fake_server() {
    let python = std::env::var("TABSEGNET_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import openai"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        skipped(
            "openai_s_client_understands_the_fake_server",
            "there is no Python with openai; name one in TABSEGNET_PYTHON",
        );
        return;
    }
    let server = ChatServer::start(|number, request| match (number, request.body["model"].as_str()) {
        (0, _) => status(429, "Content-Type: application/json\r\n", "{\"error\": {\"message\": \"slow down\"}}"),
        (_, Some("unknown")) => {
            status(401, "Content-Type: application/json\r\n", "{\"error\": {\"message\": \"wrong key\"}}")
        }
        _ => completion(request, "It was 12 million."),
    });
    let output =
        Command::new(&python).args(["-c", PROGRAM, &server.base_url()]).env("NO_PROXY", "127.0.0.1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout.starts_with(b"understood"), "{said}");
    assert_eq!(server.received().len(), 4);
}
