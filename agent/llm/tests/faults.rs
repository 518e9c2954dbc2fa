//! The client against a server that fails in every way servers do.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsegnet_llm::{
    Budget, ChatModel as _, ChatRequest, Finish, HttpModel, LlmError, LlmSettings, Message, Piece, Reply, ReplyFormat,
    ReplySchema, Secret, chat_json,
};
use tabsegnet_test_support::{ChatServer, Step, completion, status, streamed};

const KEY: &str = "sk-do-not-show-1234567890";

fn settings(server: &ChatServer) -> LlmSettings {
    LlmSettings {
        base_url: server.base_url(),
        model: "fake".into(),
        backoff_seconds: 0.01,
        silence_seconds: 5.0,
        ..LlmSettings::default()
    }
}

fn request() -> ChatRequest {
    ChatRequest::new(vec![Message::system("Be short."), Message::user("What was revenue?")])
}

/// The reply, what was streamed of it, and the budget after it.
fn chat_with(settings: LlmSettings) -> (Result<Reply, LlmError>, String, Budget) {
    let mut budget = Budget::new(settings.budget.clone());
    let model = HttpModel::new(settings, Some(Secret::new(KEY))).unwrap();
    let mut text = String::new();
    let result = model.chat(&request(), &mut budget, &mut |piece| match piece {
        Piece::Text(piece) => text.push_str(piece),
        Piece::Again => text.clear(),
    });
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?}").contains(KEY), "the key is shown: {error}");
    }
    (result, text, budget)
}

fn chat(server: &ChatServer) -> (Result<Reply, LlmError>, String, Budget) {
    chat_with(settings(server))
}

fn words(content: &str) -> Vec<String> {
    content.split_inclusive(' ').map(str::to_owned).collect()
}

#[test]
fn a_reply_comes_whole_and_in_pieces() {
    let server = ChatServer::start(|_, request| completion(request, "It was 12 million."));
    for stream in [true, false] {
        let (reply, text, budget) = chat_with(LlmSettings { stream, ..settings(&server) });
        let reply = reply.unwrap();
        assert_eq!((reply.content.as_str(), text.as_str()), ("It was 12 million.", "It was 12 million."));
        assert_eq!((reply.tokens.prompt, reply.tokens.completion, reply.tokens.estimated), (11, 5, false));
        assert_eq!((reply.finish, budget.spent().calls, budget.spent().tokens.total()), (Finish::Stop, 1, 16));
    }
    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].line, "POST /v1/chat/completions");
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received[0].body["messages"][0]["role"], "system");
    assert_eq!((&received[0].body["stream"], &received[1].body["stream"]), (&json!(true), &Value::Null));
}

#[test]
fn what_a_server_says_of_too_many_requests_is_honoured() {
    let server = ChatServer::start(|number, request| match number {
        0 => status(429, "Retry-After: 1\r\n", "{\"error\": {\"message\": \"slow down\"}}"),
        _ => completion(request, "yes"),
    });
    let begun = Instant::now();
    let (reply, _, budget) = chat(&server);
    assert_eq!(reply.unwrap().content, "yes");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(budget.spent().calls, 2);
    // A date that has passed means at once.
    let server = ChatServer::start(|number, request| match number {
        0 => status(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", ""),
        _ => completion(request, "yes"),
    });
    assert_eq!(chat(&server).0.unwrap().content, "yes");
    // More than we are willing to wait is said, not waited for.
    let server = ChatServer::start(|_, _| status(429, "Retry-After: 3600\r\n", "quota"));
    let begun = Instant::now();
    let error = chat(&server).0.unwrap_err().to_string();
    assert!(error.contains("3600 s") && error.contains("max_wait_seconds") && error.contains("quota"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    // Nor is a wait that the budget has no time for.
    let server = ChatServer::start(|_, _| status(429, "Retry-After: 30\r\n", ""));
    let mut short = settings(&server);
    short.budget.seconds = 5.0;
    assert!(matches!(chat_with(short).0, Err(LlmError::Budget(_))));
}

#[test]
fn errors_of_the_server_are_tried_again_up_to_an_end() {
    let server = ChatServer::start(|number, request| match number {
        0 => status(500, "", "oops"),
        1 => status(502, "", "<html>bad gateway</html>"),
        _ => completion(request, "yes"),
    });
    assert_eq!(chat(&server).0.unwrap().content, "yes");
    assert_eq!(server.received().len(), 3);
    let server = ChatServer::start(|_, _| status(500, "", "oops"));
    let (reply, _, budget) = chat(&server);
    let error = reply.unwrap_err();
    assert!(matches!(error, LlmError::Busy { status: 500, attempts: 4, .. }), "{error:?}");
    assert_eq!(budget.spent().calls, 4);
    // The budget of calls counts attempts.
    let mut few = settings(&server);
    few.budget.calls = 2;
    assert!(matches!(chat_with(few).0, Err(LlmError::Budget(_))));
}

#[test]
fn a_stream_that_is_cut_begins_again() {
    let server = ChatServer::start(|number, request| match number {
        0 => streamed(&words("It was 99 and then"), None),
        _ => completion(request, "It was 12."),
    });
    let (reply, text, budget) = chat(&server);
    assert_eq!((reply.unwrap().content.as_str(), text.as_str()), ("It was 12.", "It was 12."));
    // What had come is paid for.
    let spent = budget.spent();
    assert!(spent.calls == 2 && spent.tokens.total() > 16 && spent.tokens.estimated, "{spent:?}");
    let server = ChatServer::start(|_, _| streamed(&words("It was"), None));
    let error = chat(&server).0.unwrap_err().to_string();
    assert!(error.contains("after 4 attempts") && error.contains("ended before"), "{error}");
}

#[test]
fn silence_ends() {
    let stall = |steps: Vec<Step>| {
        ChatServer::start(move |_, _| [steps.clone(), vec![Step::Wait(Duration::from_millis(900))]].concat())
    };
    for server in [stall(Vec::new()), stall(streamed(&words("It was"), None))] {
        let impatient = LlmSettings { silence_seconds: 0.2, attempts: 2, ..settings(&server) };
        let begun = Instant::now();
        let error = chat_with(impatient).0.unwrap_err();
        assert!(matches!(error, LlmError::Timeout { setting: "llm.silence_seconds", attempts: 2, .. }), "{error:?}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    // One that never stops, but never is silent either.
    let server = ChatServer::start(|_, _| {
        let mut steps = streamed(&words("It"), None);
        for _ in 0..40 {
            steps.push(Step::Wait(Duration::from_millis(50)));
            steps.push(Step::Send(b": still here\n\n".to_vec()));
        }
        steps
    });
    let error = chat_with(LlmSettings { call_seconds: 0.4, attempts: 1, ..settings(&server) }).0.unwrap_err();
    assert!(matches!(error, LlmError::Timeout { phase: "the reply", .. }), "{error:?}");
}

#[test]
fn regression_what_a_server_says_does_not_steer_the_terminal() {
    for said in ["\u{1b}[31mred\u{7}", "{\"error\": {\"message\": \"\\u001b[31mred\"}}"] {
        let server = ChatServer::start(move |_, _| status(400, "", said));
        let error = chat(&server).0.unwrap_err().to_string();
        assert!(error.contains("red") && !error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn garbage_is_named() {
    let html = || status(200, "Content-Type: text/html\r\n", "<html>Welcome to nginx</html>");
    let event = |event: &'static str| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        vec![Step::Send(format!("{head}data: {event}\n\n").into_bytes())]
    };
    let json = |body: &'static str| status(200, "Content-Type: application/json\r\n", body);
    let bytes = || vec![Step::Send(b"\x00\x01\x02 no http at all\r\n\r\n".to_vec())];
    for (steps, words) in [
        (html(), "Welcome to nginx"),
        (event("{broken"), "{broken"),
        (json("{\"choices\": \"no\"}"), "choices"),
        (json("{}"), "{}"),
        (json(""), "nothing"),
        (json("{\"choices\": []}"), "choices"),
        (bytes(), "HTTP"),
        (status(200, "Content-Type: application/json\r\n", "\u{0}"), "\\0"),
    ] {
        let server = ChatServer::start(move |_, _| steps.clone());
        let error = chat(&server).0.unwrap_err();
        assert!(matches!(error, LlmError::NotChat { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(words) && error.contains("/v1"), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn refusals_say_what_to_set() {
    for (code, headers, body, words) in [
        (
            401,
            "",
            "{\"error\": {\"message\": \"Incorrect API key provided: sk-do-not-show-1234567890\"}}",
            "set TABSEGNET_LLM_KEY",
        ),
        (403, "", "{\"detail\": \"not yours\"}", "not yours"),
        (404, "", "404 page not found", "llm.base_url usually ends in /v1"),
        (400, "", "{\"error\": {\"message\": \"response_format is not supported\"}}", "llm.reply_format"),
        (400, "", "{\"error\": {\"message\": \"max_tokens is too large\"}}", "llm.max_tokens"),
        (
            400,
            "",
            "{\"error\": {\"message\": \"the request exceeds the available context size, try increasing it\"}}",
            "lower agent.prompt_tokens",
        ),
        (
            400,
            "",
            "{\"error\": {\"message\": \"This model's maximum context length is 4096 tokens. You requested 9000 tokens.\"}}",
            "lower agent.prompt_tokens",
        ),
        (413, "", "", "lower agent.prompt_tokens"),
        (418, "", "", "without a word"),
        (302, "Location: http://evil.example.com/v1\r\n", "", "http://evil.example.com/v1; no key is sent on"),
    ] {
        let server = ChatServer::start(move |_, _| status(code, headers, body));
        let error = chat(&server).0.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("127.0.0.1"), "{error}");
        assert_eq!(server.received().len(), 1, "{code} is not tried again");
    }
}

#[test]
fn parameters_that_a_server_does_not_take_are_left_out() {
    let server = ChatServer::start(|_, request| {
        let refused = |message: &str| status(400, "", &json!({"error": {"message": message}}).to_string());
        if request.body.get("max_tokens").is_some() {
            return refused(
                "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            );
        }
        if request.body.get("temperature").is_some() {
            return refused("Unsupported value: 'temperature' does not support 0.0 with this model.");
        }
        completion(request, "yes")
    });
    let model = HttpModel::new(LlmSettings { attempts: 1, ..settings(&server) }, None).unwrap();
    for calls in [3, 1] {
        let mut budget = Budget::new(LlmSettings::default().budget);
        let reply = model.chat(&request(), &mut budget, &mut |_| {}).unwrap();
        // It is known from the second request on.
        assert_eq!((reply.content.as_str(), budget.spent().calls), ("yes", calls));
    }
    let body = server.received().pop().unwrap().body;
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(1024), &Value::Null));
    assert_eq!(body["temperature"], Value::Null);
    // One that refuses it again has another reason.
    let server = ChatServer::start(|_, _| status(400, "", "unknown parameter: max_tokens, max_completion_tokens"));
    assert!(matches!(chat(&server).0, Err(LlmError::Refused { .. })));
    assert_eq!(server.received().len(), 2);
}

#[test]
fn https_to_a_server_of_plain_http_is_said() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 1 << 14];
        let _ = stream.read(&mut hello);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        while stream.read(&mut hello).is_ok_and(|read| read > 0) {}
    });
    let base_url = format!("https://{address}/v1");
    let wrong = LlmSettings { base_url, model: "m".into(), attempts: 1, ..LlmSettings::default() };
    let error = chat_with(wrong).0.unwrap_err();
    assert!(matches!(error, LlmError::NoTls { .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("does not speak TLS") && error.contains("http://…"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_redirect_takes_no_key_along() {
    let other = ChatServer::start(|_, request| completion(request, "give me the key"));
    let to = other.base_url();
    for code in [301, 302, 303, 307, 308] {
        let location = format!("Location: {to}/chat/completions\r\n");
        let server = ChatServer::start(move |_, _| status(code, &location, ""));
        assert!(matches!(chat(&server).0, Err(LlmError::Redirect { .. })));
    }
    assert!(other.received().is_empty());
}

#[test]
fn nobody_there_is_said() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = LlmSettings {
        base_url: format!("http://{address}/v1"),
        model: "m".into(),
        backoff_seconds: 0.01,
        attempts: 2,
        ..LlmSettings::default()
    };
    let error = chat_with(nobody).0.unwrap_err().to_string();
    assert!(error.contains("after 2 attempts") && error.contains("is a server running there"), "{error}");
    let nowhere = LlmSettings {
        base_url: "https://no-such-host.invalid/v1".into(),
        model: "m".into(),
        backoff_seconds: 0.01,
        attempts: 1,
        ..LlmSettings::default()
    };
    let error = chat_with(nowhere).0.unwrap_err().to_string();
    assert!(error.contains("no-such-host.invalid") && error.contains("llm.base_url"), "{error}");
}

#[test]
fn the_length_of_a_reply_and_thoughts_before_it() {
    let server = ChatServer::start(|_, _| streamed(&words("{\"n\": 1"), Some("length")));
    assert_eq!(chat(&server).0.unwrap().finish, Finish::Length);
    let number = |value: Value| value["n"].as_i64().ok_or_else(|| "n is missing".to_owned());
    let json_of = |server: &ChatServer| {
        let settings = settings(server);
        let mut budget = Budget::new(settings.budget.clone());
        let schema = ReplySchema { name: "number".into(), schema: json!({"type": "object"}) };
        let wanted = settings.request(request().messages, Some(schema));
        let model = HttpModel::new(settings, None).unwrap();
        chat_json(&model, wanted, &mut budget, &mut |_| {}, &number)
    };
    let error = json_of(&server).unwrap_err().to_string();
    assert!(error.contains("cut off at 1024 tokens"), "{error}");
    let sent = server.received();
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1].body["response_format"]["type"], "json_schema");
    assert!(sent[1].header("authorization").is_none());
    assert_eq!(sent[2].body["messages"].as_array().map(Vec::len), Some(4));
    let server = ChatServer::start(|_, request| {
        completion(request, "<think>Is {it} {\"n\": 8}?</think> Thus:\n```json\n{\"n\": 7}\n```")
    });
    assert_eq!(json_of(&server).unwrap().value, 7);
    // Thoughts apart, as some servers give them.
    let server = ChatServer::start(|_, _| {
        let body = json!({"choices": [{"message": {"content": "{\"n\": 7}", "reasoning_content": "{\"n\": 8}"},
                                       "finish_reason": "stop"}]});
        status(200, "Content-Type: application/json\r\n", &body.to_string())
    });
    let reply = json_of(&server).unwrap();
    assert_eq!((reply.value, reply.tokens.estimated), (7, true));
}

#[test]
fn json_is_wanted_as_the_settings_say() {
    let server = ChatServer::start(|_, request| completion(request, "{}"));
    for (format, wanted) in [
        (ReplyFormat::JsonSchema, json!("json_schema")),
        (ReplyFormat::JsonObject, json!("json_object")),
        (ReplyFormat::Text, Value::Null),
        (ReplyFormat::Tools, Value::Null),
    ] {
        let settings = LlmSettings { reply_format: format, seed: Some(3), ..settings(&server) };
        let schema = ReplySchema { name: "any".into(), schema: json!({"type": "object"}) };
        let request = settings.request(request().messages, Some(schema));
        let mut budget = Budget::new(settings.budget.clone());
        HttpModel::new(settings, None).unwrap().chat(&request, &mut budget, &mut |_| {}).unwrap();
        let body = server.received().pop().unwrap().body;
        assert_eq!((&body["response_format"]["type"], &body["seed"]), (&wanted, &json!(3)));
        let function = &body["tools"][0]["function"];
        match format {
            ReplyFormat::Tools => {
                assert_eq!((&function["name"], &function["parameters"]["type"]), (&json!("any"), &json!("object")));
                assert_eq!((&body["tools"][0]["type"], &body["tool_choice"]), (&json!("function"), &json!("required")));
            }
            _ => assert_eq!((&body["tools"], &body["tool_choice"]), (&Value::Null, &Value::Null)),
        }
    }
}

/// What is read of a server's tool calls, where `{"n": …}` is wanted, and the calls that it took.
fn tool_reply(answer: impl Fn(usize) -> Vec<Step> + Send + 'static) -> (Result<u64, LlmError>, u32) {
    let server = ChatServer::start(move |number, _| answer(number));
    let settings = LlmSettings { reply_format: ReplyFormat::Tools, attempts: 2, ..settings(&server) };
    let schema = ReplySchema { name: "any".into(), schema: json!({"type": "object"}) };
    let request = settings.request(request().messages, Some(schema));
    let mut budget = Budget::new(settings.budget.clone());
    let model = HttpModel::new(settings, None).unwrap();
    let read = |value: Value| value["n"].as_u64().ok_or_else(|| "\"n\" is to be a number".to_owned());
    let reply = chat_json(&model, request, &mut budget, &mut |_| {}, &read);
    (reply.map(|reply| reply.value), budget.spent().calls)
}

/// A whole reply with this message.
fn message(message: Value, finish: &str) -> Vec<Step> {
    let body = json!({"choices": [{"message": message, "finish_reason": finish}]});
    status(200, "Content-Type: application/json\r\n", &body.to_string())
}

/// A stream of these deltas.
fn deltas(deltas: &[Value], finish: Option<&str>) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let mut text = head.to_owned();
    for delta in deltas {
        text += &format!("data: {}\n\n", json!({"choices": [{"delta": delta, "finish_reason": null}]}));
    }
    if let Some(finish) = finish {
        text += &format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    }
    vec![Step::Send(text.into_bytes())]
}

#[test]
fn tool_calls_are_replies() {
    let call = |index: usize, arguments: &str| {
        json!({"tool_calls": [{"index": index, "id": "c", "type": "function",
                               "function": {"name": "any", "arguments": arguments}}]})
    };
    // In pieces, with words before it and a second call behind it.
    let streamed = move |_| {
        let pieces = [json!({"content": "I call it."}), call(0, "{\"n\""), call(0, ": 4}"), call(1, "{\"n\": 5}")];
        deltas(&pieces, Some("tool_calls"))
    };
    let (reply, calls) = tool_reply(streamed);
    assert_eq!((reply.unwrap(), calls), (4, 1));
    // Whole; as JSON and not as a text; two of them; in the content all the same; without arguments at first.
    let function =
        |arguments: Value| json!({"id": "c", "type": "function", "function": {"name": "any", "arguments": arguments}});
    let two = json!({"content": null, "tool_calls": [function("{\"n\": 6}".into()), function("{\"n\": 7}".into())]});
    assert_eq!(tool_reply(move |_| message(two.clone(), "tool_calls")).0.unwrap(), 6);
    let object = json!({"content": "", "tool_calls": [function(json!({"n": 8}))]});
    assert_eq!(tool_reply(move |_| message(object.clone(), "stop")).0.unwrap(), 8);
    assert_eq!(tool_reply(|_| message(json!({"content": "{\"n\": 9}"}), "stop")).0.unwrap(), 9);
    let bare = json!({"content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "any"}}]});
    let whole = json!({"content": null, "tool_calls": [function("{\"n\": 10}".into())]});
    let (reply, calls) = tool_reply(move |number| message([&bare, &whole][number.min(1)].clone(), "tool_calls"));
    assert_eq!((reply.unwrap(), calls), (10, 2));
}

#[test]
fn tool_calls_that_are_none_end() {
    let call =
        |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"name": "any", "arguments": arguments}}]});
    // Arguments that are no JSON, twice.
    let garbage = call("n = 4");
    let (reply, calls) = tool_reply(move |_| deltas(std::slice::from_ref(&garbage), Some("tool_calls")));
    assert!(matches!(reply, Err(LlmError::Invalid { .. })) && calls == 2);
    // Cut off at the most tokens: that is said to the model and to the user.
    let cut = call("{\"n\": ");
    let error = tool_reply(move |_| deltas(std::slice::from_ref(&cut), Some("length"))).0.unwrap_err().to_string();
    assert!(error.contains("llm.max_tokens"), "{error}");
    // A stream that breaks off within the arguments begins again.
    let (half, whole) = (call("{\"n\": 1"), call("{\"n\": 12}"));
    let (reply, calls) = tool_reply(move |number| match number {
        0 => deltas(std::slice::from_ref(&half), None),
        _ => deltas(std::slice::from_ref(&whole), Some("tool_calls")),
    });
    assert_eq!((reply.unwrap(), calls), (12, 2));
    // A server without tools says so, and what to set is said.
    let refused = |_| status(400, "", "{\"error\": {\"message\": \"tools param requires --jinja flag\"}}");
    let error = tool_reply(refused).0.unwrap_err().to_string();
    assert!(error.contains("llm.reply_format to json_schema"), "{error}");
    let error = tool_reply(|_| status(500, "", "tool grammar")).0.unwrap_err();
    assert!(matches!(error, LlmError::Busy { attempts: 2, .. }), "{error}");
    // Neither a call nor a word.
    let nothing = json!({"content": null, "tool_calls": []});
    assert!(matches!(tool_reply(move |_| message(nothing.clone(), "stop")).0, Err(LlmError::Invalid { .. })));
}

#[test]
fn nothing_is_sent_that_the_budget_has_no_room_for() {
    let server = ChatServer::start(|_, request| completion(request, "yes"));
    let mut poor = settings(&server);
    poor.budget.tokens = 100;
    assert!(matches!(chat_with(poor).0, Err(LlmError::Budget(_))));
    let mut poor = LlmSettings { price_prompt: Some(10.0), price_completion: Some(10.0), ..settings(&server) };
    poor.budget.cost = Some(0.001);
    assert!(matches!(chat_with(poor.clone()).0, Err(LlmError::Budget(_))));
    assert!(server.received().is_empty());
    poor.budget.cost = Some(1.0);
    let (reply, _, budget) = chat_with(poor);
    assert_eq!((reply.unwrap().cost, budget.spent().cost), (Some(0.00016), Some(0.00016)));
}
