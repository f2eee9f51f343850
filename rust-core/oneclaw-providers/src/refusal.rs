//! How services say that they do not take a part of a request, where something else can be tried.
//!
//! Decides by the error's own words only, and by the words that name the part: an error that merely mentions it is no
//! refusal of it. What is tried instead is decided by [`crate::Adjustments`].

use crate::{Unsupported, address, wording};
use oneclaw_catalogue::ThinkingType;
use oneclaw_model::{Dialect, Effort};

/// What an error says, and what was asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    /// Its sentence and, on a line of its own, its codes; in lower case.
    pub text: &'a str,
    /// The parameter it is about, if it names one; in lower case.
    pub param: &'a str,
    /// The HTTP status, if there is one.
    pub status: Option<u16>,
    /// The service's host, if known.
    pub host: &'a str,
    /// The dialect that was spoken, if known.
    pub dialect: Option<Dialect>,
}

/// What is not taken, if the error says so.
pub(crate) fn unsupported(said: Said<'_>) -> Option<Unsupported> {
    let has = |wordings: &[&str]| wording::has(wordings, said.text);
    if let Some(dialect) = said.other_dialect() {
        return Some(Unsupported::Dialect(dialect));
    }
    if has(&TOOLS_WITH_EFFORT) {
        return Some(said.tools_with_effort());
    }
    if has(&REPLAY) {
        return Some(Unsupported::Replay);
    }
    if has(&REASONING_MISSING) {
        return Some(Unsupported::ReasoningMissing);
    }
    if let Some(types) = said.thinking_types() {
        return Some(Unsupported::ThinkingType(types));
    }
    if has(&NO_SUMMARY) || said.refuses(&SUMMARY) || said.refuses_value(&SUMMARY) {
        return Some(Unsupported::Summary);
    }
    if has(&NO_EFFORT) || said.refuses(&EFFORT) || said.refuses_value(&EFFORT) {
        return Some(Unsupported::Effort(listed_efforts(said.text)));
    }
    if said.refuses(&["max_tokens"]) {
        return Some(Unsupported::LimitName(true));
    }
    if said.refuses(&["max_completion_tokens"]) {
        return Some(Unsupported::LimitName(false));
    }
    if has(&CALL_IDS) {
        return Some(Unsupported::CallIds);
    }
    if said.refuses(&["parametersjsonschema", "parameters_json_schema"]) {
        return Some(Unsupported::JsonSchema);
    }
    if has(&PICTURES) || said.refuses(&["image_url", "input_image"]) {
        return Some(Unsupported::Pictures);
    }
    (has(&TOOLS) || said.refuses(&["tools"])).then_some(Unsupported::Tools)
}

/// A model that is spoken to in Responses only. The first wording is also OpenAI's for models that speak neither dialect:
/// then Responses is tried once in vain.
const ONLY_RESPONSES: [&str; 4] = [
    "only supported in v1/responses",
    "only supported in the v1/responses",
    "only supported with the responses api",
    "only available in the responses api",
];

/// The same, at OpenAI's own host.
const NO_CHAT_MODEL: [&str; 2] = [
    "this is not a chat model and thus not supported in the v1/chat/completions endpoint",
    "not supported in the v1/chat/completions endpoint",
];

/// A model or server that does not speak Responses.
const NO_RESPONSES: [&str; 8] = [
    "only supported in v1/chat/completions",
    "only supported in the v1/chat/completions",
    "not supported in v1/responses",
    "not supported in the v1/responses",
    "not supported with the responses api",
    "not supported by the responses api",
    "does not support the responses api",
    "responses api is not supported",
];

const TOOLS_WITH_EFFORT: [&str; 2] = [
    "function tools with reasoning_effort are not supported",
    "tools are not supported with reasoning_effort",
];

/// Reasoning that went back and was refused.
const REPLAY: [&str; 18] = [
    // Anthropic
    "invalid `signature` in `thinking` block",
    "invalid signature in thinking block",
    "invalid `data` in `redacted_thinking` block",
    "bound to a different conversation",
    "blocks in the latest assistant message cannot be modified",
    "expected `thinking` or `redacted_thinking`, but found",
    // OpenAI
    "was provided without its required",
    "encrypted content{*}could not be verified",
    "encrypted content{*}could not be decrypted",
    "encrypted content{*}did not match",
    "invalid_encrypted_content",
    "item with id 'rs_{*}not found",
    "item with id 'msg_{*}not found",
    "item with id 'fc_{*}not found",
    // Gemini
    "invalid thought signature",
    "corrupted thought signature",
    "thought signature is not valid",
    "is missing a thought_signature",
];

/// Reasoning that had to go back and did not (DeepSeek, Kimi).
const REASONING_MISSING: [&str; 3] = [
    "`reasoning_content`{*}must be passed back",
    "reasoning_content{*}must be passed back",
    "reasoning_content is missing in assistant tool call message",
];

/// The name under which Responses is asked for summaries of reasoning.
const SUMMARY: [&str; 1] = ["reasoning.summary"];

/// OpenAI gives summaries only to organisations that have shown who they are.
const NO_SUMMARY: [&str; 1] = ["must be verified to generate reasoning summaries"];

/// The names under which dialects tell the effort.
const EFFORT: [&str; 9] = [
    "reasoning_effort",
    "reasoning.effort",
    "reasoningeffort",
    "output_config.effort",
    "output_config",
    "thinkinglevel",
    "thinking_level",
    "effort",
    "reasoning",
];

/// Refusals of an effort that do not name the parameter (OpenRouter, Gemini).
const NO_EFFORT: [&str; 4] = [
    "reasoning is mandatory for this endpoint",
    "thinking level is not supported",
    "thinking_level is not supported",
    "this model only works in thinking mode",
];

/// What stands before the efforts or types that are taken.
const LISTS: [&str; 9] = [
    "supported values are",
    "supported values:",
    "valid values are",
    "allowed values are",
    "must be one of",
    "expected one of",
    "expected tags:",
    "input should be",
    "expected `",
];

const CALL_IDS: [&str; 3] = [
    "functionresponse.id does not match functioncall.id",
    "unknown name \"id\" at 'contents[{*}function_call",
    "unknown name \"id\" at 'contents[{*}function_response",
];

const PICTURES: [&str; 17] = [
    "does not support image input",
    "does not support image inputs",
    "does not support images",
    "does not support vision",
    "no endpoints found that support image input",
    "image input is not supported",
    "image inputs are not supported",
    "images are not supported",
    "image input is not enabled",
    "image_url is only supported by certain models",
    "invalid content type. image_url",
    "unknown variant `image_url`",
    "unknown variant `input_image`",
    "is not a multimodal model",
    "is missing data required for image input",
    "image input modality is not enabled",
    "model does not accept images",
];

const TOOLS: [&str; 12] = [
    "does not support tools",
    "does not support tool use",
    "does not support tool calling",
    "does not support function calling",
    "no endpoints found that support tool use",
    "tool use is not supported",
    "tool calling is not supported",
    "`tool calling` is not supported",
    "function calling is not supported",
    "function calling is not enabled",
    "tools param requires --jinja flag",
    "tool choice requires --enable-auto-tool-choice",
];

/// What stands before and after a parameter that a service does not take.
const PARAMETER: [(&str, &str); 15] = [
    ("unsupported parameter: ", ""),
    ("unknown parameter: ", ""),
    ("unrecognized request argument supplied: ", ""),
    ("unrecognized request arguments supplied: ", ""),
    ("unexpected keyword argument ", ""),
    ("unknown field ", ""),
    ("unknown name ", ""),
    ("does not support parameter ", ""),
    ("does not support the ", " parameter"),
    ("argument not supported on this model: ", ""),
    ("argument not supported: ", ""),
    ("property ", " is unsupported"),
    ("property ", " is not supported"),
    ("", ": extra inputs are not permitted"),
    ("", " is not supported"),
];

/// The same for a value of it.
const VALUE: [(&str, &str); 6] = [
    ("unsupported value: ", ""),
    ("", ": input should be"),
    ("", ": unknown variant"),
    ("", " must be one of"),
    ("", " does not support"),
    ("invalid value for ", ""),
];

impl Said<'_> {
    fn is_openai(&self) -> bool {
        address::is_host_or_below(self.host, "api.openai.com")
    }

    /// The dialect to try instead.
    fn other_dialect(&self) -> Option<Dialect> {
        let has = |wordings: &[&str]| wording::has(wordings, self.text);
        if self.dialect != Some(Dialect::Responses)
            && (has(&ONLY_RESPONSES) || (self.is_openai() && has(&NO_CHAT_MODEL)))
        {
            return Some(Dialect::Responses);
        }
        if self.dialect != Some(Dialect::ChatCompletions) && has(&NO_RESPONSES) {
            return Some(Dialect::ChatCompletions);
        }
        // A server that does not know the path. OpenAI's does; what is missing there is something else.
        let is_path_unknown = matches!(self.status, Some(404 | 405 | 501))
            && self.dialect == Some(Dialect::Responses)
            && !self.is_openai()
            && !self.names_a_model()
            && !has(&REPLAY);
        is_path_unknown.then_some(Dialect::ChatCompletions)
    }

    fn names_a_model(&self) -> bool {
        let has = |wordings: &[&str]| wording::has(wordings, self.text);
        has(&wording::MODEL) || has(&wording::MODEL_ANYWHERE) || has(&wording::MODEL_GONE)
    }

    /// OpenAI's own service has a dialect in which both go together.
    fn tools_with_effort(&self) -> Unsupported {
        if self.is_openai() && self.dialect != Some(Dialect::Responses) {
            Unsupported::Dialect(Dialect::Responses)
        } else {
            Unsupported::ToolsWithEffort
        }
    }

    /// The types of thinking that are taken, if the error refuses one or the parameter.
    fn thinking_types(&self) -> Option<Vec<ThinkingType>> {
        let refused = self.text.split_once("\"thinking.type.").filter(|(_, after)| {
            let (_, after) = after.split_once('"').unwrap_or_default();
            after.trim_start().starts_with("is not supported")
        });
        if let Some((_, after)) = refused {
            let (_, instead) = after.split_once("use ").unwrap_or_default();
            let named = |kind: &ThinkingType| instead.contains(&format!("thinking.type.{}", kind.word()));
            return Some(ThinkingType::ALL.into_iter().filter(named).collect());
        }
        // Kimi: `invalid thinking: only type=enabled is allowed for this model`.
        if let Some((_, after)) = self.text.split_once("invalid thinking: only type=") {
            let named = |kind: &ThinkingType| after.starts_with(kind.word());
            return Some(ThinkingType::ALL.into_iter().filter(named).collect());
        }
        let names = ["thinking", "thinking.type"];
        let is_refused = wording::has(&["adaptive thinking is not supported"], self.text)
            || self.text.contains("thinking: input tag ")
            || self.refuses(&names)
            || self.refuses_value(&names);
        is_refused.then(|| {
            let listed = listed(self.text);
            let named = |kind: &ThinkingType| listed.contains(&kind.word());
            ThinkingType::ALL.into_iter().filter(named).collect()
        })
    }

    /// Whether the error says that one of those parameters is not taken.
    fn refuses(&self, names: &[&str]) -> bool {
        let is_param = || {
            let codes = ["unsupported_parameter", "unknown_parameter"];
            names.contains(&self.param) && codes.iter().any(|code| self.text.contains(code))
        };
        names.iter().any(|name| is_said(self.text, name, &PARAMETER)) || is_param()
    }

    /// Whether the error says that a value of one of those parameters is not taken.
    fn refuses_value(&self, names: &[&str]) -> bool {
        let is_param = || {
            let codes = ["unsupported_value", "invalid_value", "invalid_enum_value"];
            names.contains(&self.param) && codes.iter().any(|code| self.text.contains(code))
        };
        names.iter().any(|name| is_said(self.text, name, &VALUE)) || is_param()
    }
}

/// Whether the name stands in the text in one of those ways, in quotes or without.
fn is_said(text: &str, name: &str, ways: &[(&str, &str)]) -> bool {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    text.match_indices(name).any(|(at, _)| {
        let (Some(before), Some(after)) = (text.get(..at), text.get(at + name.len()..)) else { return false };
        if !is_end_of_name(after) {
            return false;
        }
        let (before, after) = (before.trim_end_matches(is_quote), after.trim_start_matches(is_quote));
        ways.iter().any(|(start, end)| {
            let is_start = if start.is_empty() { is_top(before) } else { before.ends_with(start) };
            is_start && after.starts_with(end)
        })
    })
}

/// Whether no longer name goes on here: `reasoning` is not meant by `reasoning.effort`.
fn is_end_of_name(after: &str) -> bool {
    let mut chars = after.chars();
    match chars.next() {
        Some(c) if c.is_alphanumeric() || c == '_' => false,
        Some('.' | '[') => !chars.next().is_some_and(|c| c.is_alphanumeric()),
        _ => true,
    }
}

/// Whether a name that begins here is one of the request itself, not of something deep in it: `body.thinking`, not
/// `messages.1.content.0.thinking`.
fn is_top(before: &str) -> bool {
    let before = before.strip_suffix("body.").unwrap_or(before);
    !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/'))
}

/// The words of the list of what is taken, as far as the sentence goes; none where there is no list.
fn listed(text: &str) -> Vec<&str> {
    let after = LISTS.iter().find_map(|start| text.split_once(start).map(|(_, after)| after));
    let after = after.unwrap_or_default();
    let sentence = after.split(['\n', ';']).next().unwrap_or_default();
    let sentence = sentence.split_once(". ").map_or(sentence, |(sentence, _)| sentence);
    sentence.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect()
}

/// The efforts that are taken, the least first; none where the error lists none.
fn listed_efforts(text: &str) -> Vec<Effort> {
    let words = listed(text);
    Effort::ALL.into_iter().filter(|effort| words.contains(&effort.word())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_meant_only_where_it_stands_alone() {
        let refuses = |text: &str, name: &str| is_said(text, name, &PARAMETER);
        for text in [
            "unsupported parameter: 'max_tokens' is not supported with this model.",
            "body.max_tokens: extra inputs are not permitted",
            "max_tokens: extra inputs are not permitted",
            "unknown name \"max_tokens\" at 'x'",
            "`max_tokens` is not supported",
        ] {
            assert!(refuses(text, "max_tokens"), "{text}");
        }
        for text in [
            "messages.0.max_tokens: extra inputs are not permitted",
            "unsupported parameter: 'max_tokens_to_sample'",
            "unsupported parameter: 'max_tokens.x'",
            "temperature is not supported where max_tokens is set",
            "my_max_tokens is not supported",
            "max_tokens",
            "",
        ] {
            assert!(!refuses(text, "max_tokens"), "{text}");
        }
    }

    #[test]
    fn lists_end_with_their_sentence() {
        use Effort::{High, Low, Max, Medium};
        for (text, efforts) in [
            ("supported values are: 'low', 'medium', and 'high'.", vec![Low, Medium, High]),
            ("supported values are: 'high', 'low'. do not send 'none'.", vec![Low, High]),
            ("unknown variant `none`, expected one of `high`, `max` at line 1", vec![High, Max]),
            ("unknown variant `none`, expected `high`", vec![High]),
            ("input should be 'low' or 'high'\nmedium", vec![Low, High]),
            ("lowest, highest", vec![]),
        ] {
            assert_eq!(listed_efforts(text), efforts, "{text}");
        }
    }
}
