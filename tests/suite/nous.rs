//! Nous "Spec 008.1: Conversation Compaction (v3)", under the preset `nous`; the tests of its own list keep their names.
//!
//! Tested elsewhere, with the part they belong to:
//! - "Integration Points": pruning in `_tool_loop` and `stream_chat`, the log line `pruned N tool results` (agent loop)
//! - `test_prepare_messages_async`, "Summarization Call", `skip_thinking`, retries (agent loop, network)
//! - "Pre-Compaction Event" `conversation_compacting` with session, messages and number (events)
//! - "Phase 3": `conversation_state`, `compaction_count`, restore after a restart (database)
//!
//! Without a counterpart:
//! - `test_turn_contexts_cleaned`, "turn_contexts Cleanup"
//! - `test_format_history_text_with_summary`, the text for reflection
//! - "Prerequisites": `MAX_HISTORY_MESSAGES`
//! - "Phase 3": Heart/Brain handlers, episode boundaries
//! - "Phase 4": future work

// Support of tests: a fault should stop them.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use crate::documents::{
    UNKNOWN, compaction, finished, id, ids, limits, local_text, plan_after_failure, plan_of_size, results,
    sent, set, summary_request, talk, tariff, texts,
};
use oneclaw_context::groups::groups;
use oneclaw_context::plan::{SendReason, Strategy};
use oneclaw_context::policy::{NOUS, ONECLAW, OPENCODE, Pruning, SVEN, Tail, Trigger};
use oneclaw_context::prune::{Mark, Marks, by_age};
use oneclaw_context::{Budget, Conversation, Moment, Policy, Reason};
use oneclaw_model::{Attachment, Body, RequestMessage, ToolStatus};
use oneclaw_tests::{Chat, framed, plan_at, rules, words};

/// The model of the document: a window of 200,000 and `max_tokens` of 16,000.
const WINDOW: u64 = 200_000;
const OUTPUT: u64 = 16_000;

const CLEARED: &str = "[Tool output cleared — content was processed in earlier turns]";
const TRIM: Mark = Mark::Trimmed { head: 1_500, tail: 1_500 };

mod layer_1_tool_output_pruning {
    use super::*;

    /// A turn of tool batches with one result each, the oldest first.
    fn batches(outputs: impl IntoIterator<Item = String>) -> Chat {
        let mut chat = Chat::new().user("Look around.");
        for (index, output) in outputs.into_iter().enumerate() {
            chat = chat.batch(&format!("c{index}"), "bash", output);
        }
        chat
    }

    /// Different characters, so that head and tail can be told apart.
    fn output(chars: usize) -> String {
        (0..chars).map(|n| char::from(b'a' + (n * 7 + n / 100) as u8 % 26)).collect()
    }

    fn marks(conversation: &Conversation) -> Marks {
        by_age(conversation, &groups(&conversation.rows), &NOUS)
    }

    fn trimmed(output: &str) -> String {
        let chars = output.len();
        let marker = format!("--- trimmed (kept 1500 head + 1500 tail of {chars} chars) ---");
        format!("{}\n\n{marker}\n\n{}", &output[..1_500], &output[chars - 1_500..])
    }

    fn request(conversation: &Conversation) -> oneclaw_model::Request {
        plan_at(conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::AfterTools).request
    }

    /// A tool-result message is a whole batch here: all results that answer one reply. User messages are none, nor is
    /// a call without a result.
    #[test]
    fn is_tool_result_message() {
        let parallel = |chat: Chat, n: usize| {
            let (a, b) = (format!("a{n}"), format!("b{n}"));
            let chat = chat.reply("").call(&a, "bash", "{}").result(&a, "bash", output(5_000));
            chat.call(&b, "bash", "{}").result(&b, "bash", output(5_000))
        };
        // Seven batches in the rows m2 … m36, and between them what does not count.
        let chat =
            (0..3).fold(Chat::new().user("x"), parallel).user("Go on.").reply("").call("lost", "bash", "{}");
        let conversation = (3..7).fold(chat, parallel).reply("Done.").user("Thanks.").conversation();
        let cleared = [4, 6].map(|row| (id(row), Mark::ClearedByAge));
        let trimmed = [9, 11, 14, 16, 22, 24, 27, 29].map(|row| (id(row), TRIM));
        assert_eq!(marks(&conversation), cleared.into_iter().chain(trimmed).collect());
    }

    /// The document's own example: 24,000 characters.
    #[test]
    fn soft_trim_large_result() {
        let conversation = batches([output(24_000), "b".into(), "c".into()]).conversation();
        let expected = trimmed(&output(24_000));
        assert!(expected.contains("\n\n--- trimmed (kept 1500 head + 1500 tail of 24000 chars) ---\n\n"));
        assert_eq!(results(&request(&conversation)), [expected.as_str(), "b", "c"]);
    }

    /// Trimmed is what has *more* than 4,000 characters.
    #[test]
    fn soft_trim_preserves_small() {
        let (small, large) = (output(4_000), output(4_001));
        let conversation = batches([small.clone(), large.clone(), "b".into(), "c".into()]).conversation();
        assert_eq!(results(&request(&conversation)), [small.as_str(), &trimmed(&large), "b", "c"]);
    }

    /// "More than `tool_hard_clear_after` tool-result messages old (counting from the end)": the 7th newest and older,
    /// large or small, but for what is no longer than what would stand in its place.
    #[test]
    fn hard_clear_old_results() {
        let large = output(9_000);
        let outputs = |n| match n {
            0 => "tiny".into(),
            1 => output(100),
            _ => large.clone(),
        };
        let conversation = batches((0..9).map(outputs));
        let conversation = conversation.conversation();
        let trim = trimmed(&large);
        let expected = ["tiny", CLEARED, CLEARED, &trim, &trim, &trim, &trim, &large, &large];
        assert_eq!(results(&request(&conversation)), expected);
    }

    /// "The last `keep_last_tool_results` tool result messages are never touched", however large.
    #[test]
    fn protect_last_n_results() {
        let large = output(28_000);
        for count in 3..=6 {
            let conversation = batches((0..count).map(|_| large.clone())).conversation();
            let request = request(&conversation);
            let trim = trimmed(&large);
            let old = vec![trim.as_str(); count - 2];
            assert_eq!(results(&request), [old, vec![&large, &large]].concat());
        }
    }

    /// "Never assistant blocks": text, reasoning and calls, however long and old.
    #[test]
    fn never_modify_assistant_blocks() {
        let model = "claude-sonnet-4-5-20250929";
        let long = words(1_500);
        let arguments = format!("{{\"text\":\"{long}\"}}");
        let result = output(100);
        let round = |chat: Chat, n: usize| {
            let call = format!("c{n}");
            let chat = chat.signed_reply(model, &long, &long).call(&call, "bash", &arguments);
            chat.result(&call, "bash", result.as_str())
        };
        let conversation = (0..9).fold(Chat::new().model(model).user("x"), round).conversation();
        let plain =
            plan_at(&conversation, &UNKNOWN, &set(&NOUS, &["prune=false"]), Moment::AfterTools).request;
        let pruned = plan_at(&conversation, &UNKNOWN, &NOUS, Moment::AfterTools).request;
        let assistants = |request: &oneclaw_model::Request| {
            let all = request.messages.iter().filter(|m| m.role() == "assistant");
            all.cloned().collect::<Vec<RequestMessage>>()
        };
        assert_eq!(assistants(&pruned), assistants(&plain));
        assert!(matches!(&assistants(&pruned)[0], RequestMessage::Assistant { text, trace, calls }
            if *text == long && *trace == oneclaw_tests::chat::signed(&long, "sig").pieces && calls[0].arguments == arguments));
        assert_eq!(results(&pruned), [[CLEARED; 3].as_slice(), &[result.as_str(); 6]].concat());
    }

    /// "Never user text messages."
    #[test]
    fn never_modify_user_text() {
        let long = output(9_000);
        let result = output(100);
        let turn = |chat: Chat, n: usize| {
            chat.user(long.as_str()).batch(&format!("c{n}"), "bash", result.as_str()).reply("y")
        };
        let conversation = (0..9).fold(Chat::new(), turn).user(long.as_str()).conversation();
        let request = request(&conversation);
        let users: Vec<&str> = texts(&request).into_iter().filter(|m| m.0 == "user").map(|m| m.1).collect();
        assert_eq!(users, [long.as_str(); 10]);
        assert_eq!(results(&request)[..4], [CLEARED, CLEARED, CLEARED, &result]);
    }

    /// "Skip results containing image content"; other results of the same batch are pruned.
    #[test]
    fn skip_image_results() {
        let attachment = |mime: &str| Attachment {
            mime: mime.into(),
            name: "shot".into(),
            width: Some(10),
            height: Some(10),
            data: None,
        };
        let (picture, report) = (attachment("image/png"), attachment("application/pdf"));
        let long = output(9_000);
        let with = |chat: Chat, call: &str, file: &Attachment| {
            let chat = chat.call(call, "look", "{}");
            chat.result_with(call, "look", long.as_str(), ToolStatus::Success, vec![file.clone()])
        };
        let first = with(with(Chat::new().user("x").reply(""), "p", &picture), "q", &report);
        let chat = (0..6).fold(first, |chat, n| chat.batch(&format!("c{n}"), "bash", "ok"));
        let request = request(&chat.conversation());
        let result = |call: &str, text: &str, attachments: Vec<Attachment>| RequestMessage::ToolResult {
            call: call.into(),
            name: "look".into(),
            text: text.into(),
            failed: false,
            attachments,
        };
        let expected = [result("p", &long, vec![picture]), result("q", CLEARED, vec![])];
        assert_eq!(request.messages[2..4], expected);
    }

    #[test]
    fn empty_messages_noop() {
        let conversation = Chat::new().conversation();
        assert_eq!(marks(&conversation), Marks::new());
        assert_eq!(request(&conversation).messages, []);
        assert_eq!(marks(&Chat::new().user("x").reply("y").conversation()), Marks::new());
    }

    #[test]
    fn all_protected_noop() {
        let outputs = [output(24_000), output(24_000)];
        let conversation = batches(outputs.clone()).conversation();
        assert_eq!(marks(&conversation), Marks::new());
        assert_eq!(results(&request(&conversation)), outputs.each_ref());
    }

    /// "Mutates in-place": only the request; the document's list is local to the turn, our rows are the file's.
    #[test]
    fn the_rows_keep_their_content() {
        let conversation = batches((0..9).map(|_| output(9_000))).conversation();
        let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::AfterTools);
        assert_eq!(sent(&plan), SendReason::Fits);
        assert_eq!(plan.carry_out(conversation.clone(), "").rows, conversation.rows);
    }

    /// "Runs before every API call": in every moment, window known or not, and again with each batch.
    #[test]
    fn runs_before_every_call() {
        let conversation = batches((0..7).map(|_| output(5_000))).conversation();
        for moment in [Moment::BeforeSend, Moment::AfterTools] {
            for limits in [UNKNOWN, limits(WINDOW, OUTPUT)] {
                let plan = plan_at(&conversation, &limits, &NOUS, moment);
                assert_eq!(results(&plan.request)[..2], [CLEARED, &trimmed(&output(5_000))], "{moment:?}");
            }
        }
        let more = batches((0..8).map(|_| output(5_000))).conversation();
        assert_eq!(results(&request(&more))[..3], [CLEARED, CLEARED, &trimmed(&output(5_000))]);
    }

    /// What another preset has left out comes back under one that leaves nothing out, or in its own way only.
    #[test]
    fn marks_do_not_outlive_the_preset() {
        let outputs: Vec<String> = (0..3).map(|_| output(3_000)).collect();
        let sent = |policy: &Policy, mark: Mark| {
            let mut conversation = batches(outputs.clone()).conversation();
            let marked =
                conversation.rows.iter().filter(|row| matches!(row.message.body, Body::ToolResult { .. }));
            conversation.marks = marked.map(|row| (row.message.id.clone(), mark)).collect();
            let request = plan_at(&conversation, &UNKNOWN, policy, Moment::BeforeSend).request;
            results(&request) == outputs
        };
        let off = set(&ONECLAW, &["prune=false"]);
        for (policy, mark, is_whole) in [
            (&ONECLAW, Mark::Cleared, false),
            (&OPENCODE, Mark::Cleared, false),
            (&NOUS, Mark::Cleared, true),
            (&SVEN, Mark::Cleared, true),
            (&off, Mark::Cleared, true),
            (&ONECLAW, Mark::ClearedByAge, true),
            (&SVEN, Mark::Elided { units: 500 }, false),
        ] {
            assert_eq!(sent(policy, mark), is_whole, "{mark:?} {:?}", policy.pruning);
        }
    }

    /// Services refuse an empty text, or a model takes it for a fault.
    #[test]
    fn an_empty_output_says_so() {
        let of = |output: &str| batches([output.to_owned()]).conversation();
        for blank in ["", " \n"] {
            let request = request(&of(blank));
            assert_eq!(results(&request), ["[The tool returned no output]"]);
            assert_eq!(
                crate::documents::size(&of(blank), &NOUS),
                crate::documents::size(&of("[The tool returned no output]"), &NOUS)
            );
        }
    }

    /// `NOUS_TOOL_PRUNING_ENABLED`.
    #[test]
    fn can_be_disabled() {
        let outputs: Vec<String> = (0..9).map(|_| output(9_000)).collect();
        let policy = set(&NOUS, &["prune=false"]);
        let conversation = batches(outputs.clone()).conversation();
        let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::AfterTools);
        assert_eq!(results(&plan.request), outputs);
    }

    /// The other variables of "Configuration".
    #[test]
    fn every_number_is_a_knob() {
        let knobs = [
            "soft_trim_over=20",
            "soft_trim_head=3",
            "soft_trim_tail=4",
            "clear_after=3",
            "keep_last_results=1",
        ];
        let conversation = batches((0..4).map(|_| output(300))).conversation();
        let plan = plan_at(&conversation, &UNKNOWN, &set(&NOUS, &knobs), Moment::AfterTools);
        let full = output(300);
        let trim = format!(
            "{}\n\n--- trimmed (kept 3 head + 4 tail of 300 chars) ---\n\n{}",
            &full[..3],
            &full[296..]
        );
        assert_eq!(results(&plan.request), [CLEARED, &trim, &trim, &full]);
    }
}

mod layer_2_history_compaction {
    use super::*;

    /// A conversation over the threshold: about 100,000 tokens in turns of about 1,100.
    fn long_talk() -> Chat {
        talk(90, 350)
    }

    fn planned(conversation: &Conversation) -> oneclaw_context::Plan {
        plan_at(conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::BeforeSend)
    }

    mod token_estimation {
        use oneclaw_context::estimate::{Tariff, simple};

        /// "`total += 4  # role + structural overhead per message`".
        #[test]
        fn every_message_costs_four_more() {
            assert_eq!(Tariff::MESSAGE.expected, 4_000);
        }

        /// `len(text) // 4`; the document gives 0 to three characters, RFC-011 gives 1.
        #[test]
        fn a_quarter_of_the_characters() {
            assert_eq!(["", "abc", "abcdefgh", "abcdefghi"].map(simple), [0, 1, 2, 2]);
            assert_eq!(simple(&"x".repeat(80_000)), 20_000);
        }
    }

    mod trigger {
        use super::*;

        /// `total = system_tokens + history_tokens + max_tokens; total > 100_000`.
        #[test]
        fn should_compact_under_threshold() {
            assert_eq!(Budget::of(&limits(WINDOW, OUTPUT), &NOUS).unwrap().trigger, 84_000);
            let at = |moment| {
                plan_of_size(&talk(9, 20).conversation(), &limits(WINDOW, OUTPUT), &NOUS, moment, 84_000)
            };
            assert_eq!(sent(&at(Moment::BeforeSend)), SendReason::Fits);
            assert_eq!(sent(&at(Moment::AfterTools)), SendReason::Fits);
        }

        #[test]
        fn should_compact_over_threshold() {
            let at = |moment| {
                plan_of_size(&talk(9, 20).conversation(), &limits(WINDOW, OUTPUT), &NOUS, moment, 84_001)
            };
            for moment in [Moment::BeforeSend, Moment::AfterTools] {
                let plan = at(moment);
                let decided = compaction(&plan);
                assert_eq!((decided.reason, decided.strategy), (Reason::Threshold, Strategy::Checkpoint));
            }
            // No call follows.
            assert_eq!(sent(&at(Moment::AfterResponse)), SendReason::Fits);
        }

        /// `system_tokens` are part of the sum.
        #[test]
        fn the_system_prompt_counts() {
            let chat = || talk(60, 250).user("Next.");
            assert_eq!(sent(&planned(&chat().conversation())), SendReason::Fits);
            let conversation = chat().system(&words(30_000)).conversation();
            assert_eq!(compaction(&planned(&conversation)).reason, Reason::Threshold);
        }

        /// The document assumes a window of 200,000; the trigger never lies above what may be sent.
        #[test]
        fn a_small_window_brings_the_trigger_down() {
            let budget = Budget::of(&limits(32_000, OUTPUT), &NOUS).unwrap();
            assert_eq!((budget.reserve, budget.hard, budget.trigger), (8_000, 24_000, 24_000));
        }

        /// `compaction_enabled`: on here, off in the document while it is rolled out.
        #[test]
        fn can_be_disabled() {
            let policy = set(&NOUS, &["auto=false"]);
            let conversation = talk(9, 20).conversation();
            let plan =
                plan_of_size(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::BeforeSend, 84_001);
            assert_eq!(sent(&plan), SendReason::AutoOff);
        }
    }

    mod cut_point_selection {
        use super::*;

        /// The newest 20,000 tokens, and not a turn less; the document also keeps a user message that crosses the line.
        #[test]
        fn find_cut_point_keeps_recent() {
            let conversation = long_talk().user("Next.").conversation();
            let plan = planned(&conversation);
            let covers = compaction(&plan).covers;
            let cost = |from: usize| {
                let rows = &conversation.rows[from..];
                tariff().upper(rows.iter().map(|row| row.cost(&tariff())).sum())
            };
            assert!(
                cost(covers) <= 20_000 && cost(covers - 2) > 20_000,
                "{} {}",
                cost(covers),
                cost(covers - 2)
            );
            assert_eq!(plan.tail, ids(covers + 1..=181));
            assert_eq!(plan.boundary, Some(id(covers + 1)));
        }

        /// "Always cut at a user message boundary (start of a turn)", whatever number of tokens is kept.
        #[test]
        fn cut_at_user_boundary() {
            let turn = |chat: Chat, n: usize| {
                let call = format!("c{n}");
                chat.user(words(40))
                    .reply(words(20))
                    .call(&call, "bash", "{}")
                    .result(&call, "bash", words(40))
                    .reply("ok")
            };
            let conversation = (0..12).fold(Chat::new(), turn).user("Next.").conversation();
            for kept in (50..1_200).step_by(50) {
                let policy = set(&NOUS, &[&format!("tail_tokens={kept}")]);
                let plan =
                    plan_of_size(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::BeforeSend, 90_000);
                let covers = compaction(&plan).covers;
                assert_eq!(covers % 5, 0, "{kept}: {covers}");
                rules::check_shape(&plan.request).unwrap();
            }
        }

        /// `alternation_leading_assistant`: "recency window starting with assistant snaps forward".
        #[test]
        fn alternation_leading_assistant() {
            let conversation = talk(9, 20).user("Next.").conversation();
            // Room for exactly the last reply and the question after it.
            let cost = conversation.rows[17..].iter().map(|row| row.cost(&tariff())).sum();
            let policy = set(&NOUS, &[&format!("tail_tokens={}", tariff().upper(cost))]);
            let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::Manual);
            assert_eq!(plan.tail, ids(19..=19));
            // With the question before it there is room for the whole turn.
            let cost = conversation.rows[16..].iter().map(|row| row.cost(&tariff())).sum();
            let policy = set(&NOUS, &[&format!("tail_tokens={}", tariff().upper(cost))]);
            let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::Manual);
            assert_eq!(plan.tail, ids(17..=19));
        }

        /// "If all messages fit in keep_recent_tokens, return 0 (no compaction needed)".
        #[test]
        fn nothing_is_cut_if_all_messages_fit() {
            let conversation = talk(5, 20).user("Next.").system(&words(66_000)).conversation();
            let plan = planned(&conversation);
            assert!(plan.estimate.upper > 84_000);
            assert_eq!(sent(&plan), SendReason::NothingToGain);
            assert_eq!((plan.boundary, plan.tail), (None, ids(1..=11)));
        }

        /// "`return i  # Fallback: cut here`": no user message follows in a giant turn. It is cut after a completed
        /// batch, and what the user wrote is repeated before the rest.
        #[test]
        fn a_giant_turn_is_cut_after_a_batch() {
            let chat = talk(60, 350).user("Do it all.");
            let round = |chat: Chat, n: usize| {
                let call = format!("c{n}");
                chat.reply(words(1_000)).call(&call, "bash", "{}").result(&call, "bash", "ok")
            };
            let conversation = (0..30).fold(chat, round).conversation();
            let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::AfterTools);
            let covers = compaction(&plan).covers;
            assert!(covers > 121 && (covers - 121).is_multiple_of(3), "{covers}");
            let start: Vec<_> = texts(&plan.request).into_iter().take(4).collect();
            assert_eq!(start[2], ("user", "Do it all."));
            assert_eq!(start[3], ("assistant", words(1_000).as_str()));
            rules::check_shape(&plan.request).unwrap();
        }
    }

    mod checkpoint {
        use super::*;
        use oneclaw_context::summary::gate::{Accepted, Rejection};

        /// The headings of `CHECKPOINT_SYSTEM_PROMPT`, without the title of the format itself.
        const HEADINGS: [&str; 8] = [
            "## Goal",
            "## Constraints & Preferences",
            "## Progress",
            "### Done",
            "### In Progress",
            "## Key Decisions",
            "## Next Steps",
            "## Critical Context",
        ];

        fn checkpoint(headings: &[&str]) -> String {
            headings.iter().map(|h| format!("{h}\n- None\n")).collect()
        }

        fn system(conversation: &Conversation) -> String {
            let plan = plan_at(conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::Manual);
            summary_request(&plan).system.unwrap()
        }

        #[test]
        fn the_first_prompt_shows_the_exact_form() {
            let system = system(&long_talk().conversation());
            let headings: Vec<&str> = system.lines().filter(|line| line.starts_with('#')).collect();
            assert_eq!(headings, HEADINGS);
            for asked in
                ["exactly this form", "- [x]", "- [ ]", "**[decision]**", "file paths", "error messages"]
            {
                assert!(system.contains(asked), "{asked}");
            }
            assert!(system.contains("do not continue the conversation"));
        }

        /// `_serialize_for_summary`: `**User:** …`, `**Assistant:** …`, a blank line between; results have a label of
        /// their own where the document has them as the user's.
        #[test]
        fn the_first_request_holds_the_conversation_as_text() {
            let chat =
                Chat::new().user("Port it.").reply("Which?").user("The parser.").batch("c", "bash", "built");
            let conversation = chat.reply("Done.").user("Next.").tool("bash").conversation();
            let policy = set(&NOUS, &["tail_tokens=20"]);
            let plan = plan_at(&conversation, &limits(WINDOW, OUTPUT), &policy, Moment::Manual);
            let request = summary_request(&plan);
            let text = "<conversation>\n**User:** Port it.\n\n**Assistant:** Which?\n\n**User:** The parser.\n\n\
                        **Tool call:** bash {\"path\":\"a\"}\n\n**Tool result:** bash: built\n\n\
                        **Assistant:** Done.\n</conversation>\n\nWrite the summary of the material above now.";
            assert_eq!(request.messages, [RequestMessage::User { text: text.into(), attachments: vec![] }]);
            // `tools=None`.
            assert_eq!((request.tools, request.max_output), (vec![], Some(2_048)));
        }

        /// "Second compaction uses UPDATE prompt with existing summary".
        #[test]
        fn iterative_update_prompt() {
            let chat = Chat::new().user("Old.").reply("Old.").compacted("## Goal\nPort the parser.");
            let chat = chat.user("Now the lexer.").reply("Done.").user("Next.");
            let policy = set(&NOUS, &["tail_tokens=20"]);
            let plan = plan_at(&chat.conversation(), &limits(WINDOW, OUTPUT), &policy, Moment::Manual);
            let request = summary_request(&plan);
            let text = "## Existing Summary\n\n## Goal\nPort the parser.\n\n## New Conversation\n\n\
                        <conversation>\n**User:** Now the lexer.\n\n**Assistant:** Done.\n</conversation>\n\n\
                        Write the summary of the material above now.";
            assert_eq!(request.messages, [RequestMessage::User { text: text.into(), attachments: vec![] }]);
            let system = request.system.unwrap();
            let rules: Vec<&str> =
                system.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).collect();
            let asked = [
                "1. Keep everything the existing checkpoint says unless",
                "2. Add progress, decisions and context from the new messages",
                "3. Move items from \"In Progress\" to \"Done\"",
                "4. Rewrite \"Next Steps\"",
                "5. Keep exact file paths, function names and error messages",
                "6. Keep the form of the existing checkpoint",
            ];
            assert_eq!(rules.len(), asked.len());
            assert!(rules.iter().zip(asked).all(|(rule, start)| rule.starts_with(start)), "{rules:?}");
            assert!(system.contains("Answer with the updated checkpoint only"));
        }

        /// "Follow the EXACT format"; the document takes what comes, the specification looks.
        #[test]
        fn only_a_checkpoint_of_that_form_is_accepted() {
            let plan = planned(&long_talk().conversation());
            let judged = |text: &str| oneclaw_tests::gate(&plan).accept(&finished(text));
            let text = checkpoint(&HEADINGS);
            let accepted = Accepted { text: text.trim_end().into(), facts_added: 0, facts_dropped: 0 };
            assert_eq!(judged(&text), Ok(accepted));
            let mut swapped = HEADINGS;
            swapped.swap(5, 6);
            for faulty in [
                checkpoint(&HEADINGS[1..]),
                checkpoint(&[&HEADINGS[..3], &HEADINGS[4..]].concat()),
                checkpoint(&[&["## Format"], &HEADINGS[..]].concat()),
                checkpoint(&swapped),
                text.replace("### Done", "## Done"),
                "We ported the parser.".to_owned(),
            ] {
                assert_eq!(judged(&faulty), Err(Rejection::WrongSections), "{faulty}");
            }
        }

        /// Rule 1, "PRESERVE all existing information": an update about something else is no update.
        #[test]
        fn an_update_that_forgets_the_summary_is_rejected() {
            let names = ('a'..='z').flat_map(|a| ('a'..='e').map(move |b| format!("{a}{b}parser ")));
            let prior = checkpoint(&HEADINGS) + names.collect::<String>().trim_end();
            let chat = Chat::new().user("Old.").reply("Old.").compacted(&prior);
            let chat = (0..9).fold(chat, |chat, n| chat.user(words(50 + n)).reply(words(60 + n)));
            let policy = set(&NOUS, &["tail_tokens=20"]);
            let plan = plan_at(&chat.conversation(), &limits(WINDOW, OUTPUT), &policy, Moment::Manual);
            let judged = |text: &str| oneclaw_tests::gate(&plan).accept(&finished(text)).map(|a| a.text);
            assert_eq!(judged(&prior), Ok(prior.clone()));
            assert_eq!(judged(&checkpoint(&HEADINGS)), Err(Rejection::LostPrior));
        }

        /// `model_override=background_model`: requests are cut to what that model can hold.
        #[test]
        fn another_model_may_summarise() {
            use oneclaw_context::plan::{Inputs, Summariser, plan};
            let conversation = long_talk().conversation();
            let (state, chat_model) = (Default::default(), limits(WINDOW, OUTPUT));
            let inputs = Inputs::new(&conversation, &chat_model, &NOUS, &state, Moment::BeforeSend);
            assert_eq!(plan(&inputs).summary_requests().len(), 1);
            let small = Summariser { limits: limits(32_000, 4_000), tariff: tariff() };
            let requests = plan(&Inputs { summariser: Some(&small), ..inputs }).summary_requests();
            // Four chunks of what 28,000 can hold, and the merge.
            assert!(requests.len() > 2 && requests.iter().all(|r| r.upper <= 28_000), "{}", requests.len());
        }
    }

    mod message_rebuild {
        use super::*;

        const ACKNOWLEDGED: &str = "I have the context from our previous conversation. Let's continue.";

        /// The synthetic pair, then the recent messages; the request before shows the same tail.
        #[test]
        fn alternation_preserved() {
            let conversation = long_talk().user("Next.").conversation();
            let plan = planned(&conversation);
            let covers = compaction(&plan).covers;
            let before = plan_at(&conversation, &UNKNOWN, &NOUS, Moment::BeforeSend).request;
            let summary = format!("[Previous conversation summary]\n\n{}", framed("{{summary}}"));
            let pair = [("user", summary.as_str()), ("assistant", ACKNOWLEDGED)];
            assert_eq!(texts(&plan.request), [&pair, &texts(&before)[covers..]].concat());
            let alternates =
                |(n, message): (usize, &RequestMessage)| message.role() == ["user", "assistant"][n % 2];
            assert!(plan.request.messages.iter().enumerate().all(alternates));
        }

        /// `conversation.summary` and `conversation.messages` afterwards; the count of compactions is the file's.
        #[test]
        fn conversation_state_updated() {
            let conversation = long_talk().user("Next.").conversation();
            let plan = planned(&conversation);
            let covers = compaction(&plan).covers;
            let after = plan.carry_out(conversation.clone(), "## Goal\nPort it.");
            assert_eq!(after.epoch.as_ref().map(|e| e.summary.as_str()), Some("## Goal\nPort it."));
            assert_eq!(after.rows, conversation.rows[covers..]);

            let next = planned(&after);
            assert_eq!(sent(&next), SendReason::Fits);
            let first = format!("[Previous conversation summary]\n\n{}", framed("## Goal\nPort it."));
            assert_eq!(texts(&next.request)[..2], [("user", first.as_str()), ("assistant", ACKNOWLEDGED)]);
            assert_eq!(texts(&next.request)[2..], texts(&plan.request)[2..]);
        }
    }

    /// "Keep recent messages only, no summary": the specification puts a digest in its place.
    #[test]
    fn summarization_failure_fallback() {
        let conversation = long_talk().user("Next.").conversation();
        let wanted = planned(&conversation);
        let plan = plan_after_failure(&conversation, &limits(WINDOW, OUTPUT), &NOUS, Moment::BeforeSend);
        assert_eq!(compaction(&plan).strategy, Strategy::Digest);
        assert_eq!(compaction(&plan).covers, compaction(&wanted).covers);
        assert!(plan.summary_requests().is_empty());
        let text = local_text(&plan);
        assert!(text.starts_with("Digest of the earlier conversation"), "{text}");
        let pair = format!("[Previous conversation summary]\n\n{}", framed(text));
        assert_eq!(texts(&plan.request)[0], ("user", pair.as_str()));
        assert_eq!(texts(&plan.request)[1..], texts(&wanted.request)[1..]);
    }
}

mod configuration_summary {
    use super::*;

    /// All defaults but the rollout flag.
    #[test]
    fn the_defaults_of_the_list() {
        let expected = Policy {
            prune: true,
            soft_trim_over: 4_000,
            soft_trim_head: 1_500,
            soft_trim_tail: 1_500,
            clear_after: 6,
            keep_last_results: 2,
            auto: true,
            trigger_tokens: 100_000,
            tail_tokens: 20_000,
            pruning: Pruning::ByAge,
            trigger: Trigger::Tokens,
            tail: Tail::Tokens,
            ..NOUS
        };
        assert_eq!(NOUS, expected);
    }

    #[test]
    fn the_threshold_is_a_knob() {
        let policy = set(&NOUS, &["trigger_tokens=50000"]);
        assert_eq!(Budget::of(&limits(WINDOW, OUTPUT), &policy).unwrap().trigger, 34_000);
    }
}
