//! A conversation, written row by row.

use oneclaw_context::estimate::MeasuredRow;
use oneclaw_context::{Conversation, Fixed};
use oneclaw_model::{Attachment, Body, Message, Piece, Thinking, ToolSpec, ToolStatus, Trace, Usage};

/// Builds a conversation; rows are named `m1`, `m2` … and are a second apart.
#[derive(Debug, Clone, Default)]
pub struct Chat {
    conversation: Conversation,
    rows: usize,
    time: i64,
}

impl Chat {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the agent's instructions.
    pub fn system(mut self, text: &str) -> Self {
        self.conversation.fixed = Fixed::new(Some(text.into()), self.conversation.fixed.tools);
        self
    }

    /// With a tool that takes one text.
    pub fn tool(mut self, name: &str) -> Self {
        let mut tools = self.conversation.fixed.tools;
        tools.push(ToolSpec {
            name: name.into(),
            description: format!("Does what {name} does."),
            parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            protected: false,
        });
        self.conversation.fixed = Fixed::new(self.conversation.fixed.system, tools);
        self
    }

    /// For a model of that name.
    pub fn model(mut self, id: &str) -> Self {
        self.conversation.model = Some(id.into());
        self
    }

    /// The time of the next row; later ones follow a second apart.
    pub fn at(mut self, time: i64) -> Self {
        self.time = time - 1_000;
        self
    }

    /// Any row.
    pub fn row(mut self, body: Body) -> Self {
        self.time += 1_000;
        self.rows += 1;
        let id = format!("m{}", self.rows).as_str().into();
        self.conversation.rows.push(MeasuredRow::new(Message { id, created_at: self.time, body }));
        self
    }

    /// The user writes.
    pub fn user(self, text: impl Into<String>) -> Self {
        self.row(Body::User { text: text.into(), attachments: vec![] })
    }

    /// The user writes and attaches a picture.
    pub fn user_with_image(self, text: &str, name: &str) -> Self {
        let image = Attachment {
            mime: "image/png".into(),
            name: name.into(),
            width: Some(800),
            height: Some(600),
            data: None,
        };
        self.row(Body::User { text: text.into(), attachments: vec![image] })
    }

    /// The model answers.
    pub fn reply(self, text: impl Into<String>) -> Self {
        self.row(Body::Assistant { text: text.into(), thinking: None, trace: None, model: None, usage: None })
    }

    /// A model of that name answers, after thinking that it signed.
    pub fn signed_reply(self, model: &str, text: &str, thought: &str) -> Self {
        self.row(Body::Assistant {
            text: text.into(),
            thinking: Some(thought.into()),
            trace: Some(signed(thought, "sig")),
            model: Some(model.into()),
            usage: None,
        })
    }

    /// The model answers and the provider reports what it cost.
    pub fn reply_with_usage(self, text: impl Into<String>, usage: Usage) -> Self {
        self.row(Body::Assistant {
            text: text.into(),
            thinking: None,
            trace: None,
            model: None,
            usage: Some(usage),
        })
    }

    /// The model calls a tool.
    pub fn call(self, id: &str, name: &str, arguments: &str) -> Self {
        self.row(Body::ToolCall {
            call: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signature: None,
            model: None,
        })
    }

    /// The tool answers.
    pub fn result(self, id: &str, name: &str, output: impl Into<String>) -> Self {
        self.result_with(id, name, output, ToolStatus::Success, vec![])
    }

    /// The tool answers in any way.
    pub fn result_with(
        self,
        id: &str,
        name: &str,
        output: impl Into<String>,
        status: ToolStatus,
        attachments: Vec<Attachment>,
    ) -> Self {
        self.row(Body::ToolResult {
            call: id.into(),
            name: name.into(),
            output: output.into(),
            status,
            attachments,
        })
    }

    /// An empty reply, one call and its result: a whole batch.
    pub fn batch(self, id: &str, name: &str, output: impl Into<String>) -> Self {
        self.reply("").call(id, name, "{\"path\":\"a\"}").result(id, name, output)
    }

    /// An error was shown.
    pub fn error(self, text: &str) -> Self {
        self.row(Body::Error { text: text.into() })
    }

    /// The app noted something.
    pub fn note(self, text: &str) -> Self {
        self.row(Body::System { text: text.into() })
    }

    /// Pins the last row.
    pub fn pinned(mut self) -> Self {
        self.conversation.rows.last_mut().expect("a row to pin").pinned = true;
        self
    }

    /// Everything so far is covered by a summary that the original app made.
    pub fn compacted(mut self, summary: &str) -> Self {
        self.conversation = self.conversation.compacted_by_time(self.time + 1, summary.into());
        self
    }

    /// The conversation.
    pub fn conversation(self) -> Conversation {
        self.conversation
    }
}

/// What is kept of a reply that began with signed reasoning.
pub fn signed(text: &str, signature: &str) -> Trace {
    let thinking = Thinking::Signed { text: text.to_owned(), signature: signature.to_owned() };
    Trace { pieces: vec![Piece::Thinking(thinking)], ..Trace::default() }
}
