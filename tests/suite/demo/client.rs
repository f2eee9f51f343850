//! A client of a few lines that sees every byte.

use oneclaw_demo::{Config, Model, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body came to its end.
    pub is_whole: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The data of all events but `[DONE]`.
    pub fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream; charset=utf-8"));
        let text = self.text();
        let data =
            text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|e| panic!("{e}: {data}"))).collect()
    }

    /// Its status and the whole body.
    pub fn error(&self) -> (u16, Value) {
        assert_eq!(self.header("content-type"), Some("application/json"));
        (self.status, self.json())
    }
}

/// The bytes of a request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: demo\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Sends bytes and reads until the connection ends; `None` where it ended before any answer.
pub async fn exchange(server: &Server, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut received = Vec::new();
    // A reset is an error here; what came before it counts.
    let _ = stream.read_to_end(&mut received).await;
    parse(&received)
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(k, v)| (k.to_lowercase(), v.to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: bytes[end + 4..].to_vec(), is_whole: true };
    if answer.header("transfer-encoding") == Some("chunked") {
        (answer.body, answer.is_whole) = dechunked(&answer.body);
    } else if let Some(length) = answer.header("content-length") {
        answer.is_whole = length.parse() == Ok(answer.body.len());
    }
    Some(answer)
}

fn dechunked(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let data = &bytes[line + 2..];
        body.extend_from_slice(&data[..size.min(data.len())]);
        bytes = data.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

pub async fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    exchange(server, &request("GET", path, headers, b"")).await.unwrap()
}

pub async fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Option<Answer> {
    exchange(server, &request("POST", path, headers, body.to_string().as_bytes())).await
}

/// The protocols, so that a test can go through all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    OpenAi,
    Anthropic,
    Gemini,
    Responses,
}

pub const ALL: [Protocol; 4] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini, Protocol::Responses];

/// A server with models of the catalogue, each with plenty of room.
pub async fn known(models: &[&str]) -> Server {
    known_with(models, Config::default()).await
}

/// The same, set up otherwise.
pub async fn known_with(models: &[&str], config: Config) -> Server {
    let model = |id: &&str| Model { id: (*id).into(), window: 100_000, max_output: 10_000 };
    Server::start(Config { models: models.iter().map(model).collect(), ..config }).await.unwrap()
}

/// A request with more fields; a null takes one away.
pub fn with(mut base: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        if value.is_null() {
            base.as_object_mut().unwrap().remove(key);
        } else {
            base[key] = value.clone();
        }
    }
    base
}

/// Sends each request and compares status and words of the answer; 200 stands for any that is answered.
pub async fn check(server: &Server, protocol: Protocol, cases: &[(Value, u16, &str)]) {
    for (body, status, words) in cases {
        let answer = protocol.send(server, Form::Whole, body).await.unwrap();
        let text = answer.text().replace("\\\"", "\"");
        assert_eq!(answer.status, *status, "{protocol:?} {body} {text}");
        assert!(text.contains(words), "{protocol:?} {body}: no {words:?} in {text}");
    }
}

/// How the reply is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    Stream,
}

impl Protocol {
    pub async fn send(self, server: &Server, form: Form, body: &Value) -> Option<Answer> {
        let mut body = body.clone();
        match self {
            Self::OpenAi => {
                if form == Form::Stream {
                    body["stream"] = true.into();
                    body["stream_options"] = json!({"include_usage": true});
                }
                post(server, "/v1/chat/completions", &[], &body).await
            }
            Self::Anthropic => {
                body["stream"] = (form == Form::Stream).into();
                post(server, "/v1/messages", &[("anthropic-version", "2023-06-01")], &body).await
            }
            Self::Gemini => {
                let method = match form {
                    Form::Whole => "generateContent",
                    Form::Stream => "streamGenerateContent?alt=sse",
                };
                let model = body.as_object_mut().unwrap().remove("model").unwrap_or("demo".into());
                let path = format!("/v1beta/models/{}:{method}", model.as_str().unwrap());
                post(server, &path, &[], &body).await
            }
            Self::Responses => {
                body["stream"] = (form == Form::Stream).into();
                post(server, "/v1/responses", &[], &body).await
            }
        }
    }

    /// A request with one user message.
    pub fn ask(self, text: &str) -> Value {
        self.chat(&[text])
    }

    /// A request with messages of user and assistant in turns.
    pub fn chat(self, texts: &[&str]) -> Value {
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        let texts = texts.iter().enumerate();
        match self {
            Self::OpenAi => {
                let messages: Vec<Value> =
                    texts.map(|(at, text)| json!({"role": role(at), "content": text})).collect();
                json!({"model": "demo", "messages": messages})
            }
            Self::Anthropic => {
                let messages: Vec<Value> =
                    texts.map(|(at, text)| json!({"role": role(at), "content": text})).collect();
                json!({"model": "demo", "max_tokens": 500, "messages": messages})
            }
            Self::Gemini => {
                let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "model" };
                let contents: Vec<Value> =
                    texts.map(|(at, text)| json!({"role": role(at), "parts": [{"text": text}]})).collect();
                json!({"contents": contents})
            }
            Self::Responses => {
                let input: Vec<Value> =
                    texts.map(|(at, text)| json!({"role": role(at), "content": text})).collect();
                json!({"model": "demo", "store": false, "input": input})
            }
        }
    }

    /// The text of a reply, whole or in events.
    pub fn text(self, answer: &Answer, form: Form) -> String {
        let values = match form {
            Form::Whole => vec![answer.json()],
            Form::Stream => answer.events(),
        };
        let all = values.iter().flat_map(|value| match self {
            Self::OpenAi => {
                let choice = &value["choices"][0];
                vec![choice["message"]["content"].as_str().or(choice["delta"]["content"].as_str())]
            }
            Self::Anthropic => {
                let whole =
                    value["content"].as_array().into_iter().flatten().map(|block| block["text"].as_str());
                whole.chain([value["delta"]["text"].as_str()]).collect()
            }
            Self::Gemini => {
                let parts = value["candidates"][0]["content"]["parts"].as_array().into_iter().flatten();
                parts.filter(|part| part["thought"].is_null()).map(|part| part["text"].as_str()).collect()
            }
            Self::Responses => {
                let is_delta = value["type"] == "response.output_text.delta";
                let items = value["output"].as_array().into_iter().flatten();
                let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
                parts
                    .map(|part| part["text"].as_str())
                    .chain([value["delta"].as_str().filter(|_| is_delta)])
                    .collect()
            }
        });
        all.flatten().collect()
    }

    /// Prompt, cached and output tokens of a reply.
    pub fn usage(self, answer: &Answer, form: Form) -> (u64, u64, u64) {
        let values = match form {
            Form::Whole => vec![answer.json()],
            Form::Stream => answer.events(),
        };
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        match self {
            Self::OpenAi => {
                let usage = &values.last().unwrap()["usage"];
                let cached = &usage["prompt_tokens_details"]["cached_tokens"];
                (number(&usage["prompt_tokens"]), number(cached), number(&usage["completion_tokens"]))
            }
            Self::Anthropic => {
                let first = &values[0];
                let usage = if form == Form::Whole { &first["usage"] } else { &first["message"]["usage"] };
                let read = number(&usage["cache_read_input_tokens"]);
                let prompt =
                    number(&usage["input_tokens"]) + read + number(&usage["cache_creation_input_tokens"]);
                let output = match form {
                    Form::Whole => number(&usage["output_tokens"]),
                    Form::Stream => number(&values[values.len() - 2]["usage"]["output_tokens"]),
                };
                (prompt, read, output)
            }
            Self::Gemini => {
                let usage = &values.last().unwrap()["usageMetadata"];
                let cached = number(&usage["cachedContentTokenCount"]);
                (number(&usage["promptTokenCount"]), cached, number(&usage["candidatesTokenCount"]))
            }
            Self::Responses => {
                let last = values.last().unwrap();
                let usage = if form == Form::Whole { &last["usage"] } else { &last["response"]["usage"] };
                let cached = number(&usage["input_tokens_details"]["cached_tokens"]);
                (number(&usage["input_tokens"]), cached, number(&usage["output_tokens"]))
            }
        }
    }
}
