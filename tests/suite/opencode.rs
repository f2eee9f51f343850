//! OpenCode's "Context Compaction: Auto-Trigger, Summarize, Prune", section by section, under the preset `opencode`.
//!
//! Tested elsewhere, with the part they belong to:
//! - §2, §4.1: the compaction marker as a queued task, `auto: boolean` on it (database, agent loop)
//! - §2, §4.2: `summary=true` on the stored summary, the "compacted" event (database, events)
//! - §3.2: "stop further generation for this loop iteration" (agent loop)
//! - §7: "override model/provider for compaction runs" as a setting (network); its effect on sizes is tested here
//!
//! Without a counterpart:
//! - §5.1: the time of a prune mark
//! - §6.2: plugins that add context lines (a manual focus takes their place)
//! - §7: a pluggable token estimator

// Support of tests: a fault should stop them.
#![allow(clippy::unwrap_used)]

use crate::documents::{
    UNKNOWN, compaction, finished, id, ids, limits, local_text, plan_of_size, results, sent, set,
    summary_request, talk, tariff, texts,
};
use oneclaw_context::plan::{AUTO_CONTINUE, SendReason, Strategy, Work};
use oneclaw_context::policy::{Afterwards, OPENCODE, Placement, Pruning, Style, Tail, Trigger};
use oneclaw_context::{Budget, Conversation, Moment, Plan, Policy, Reason};
use oneclaw_model::{ModelLimits, RequestMessage, Usage};
use oneclaw_tests::{Chat, framed, plan_at, rules, words};

/// `usable` is 192,000 here.
fn model() -> ModelLimits {
    limits(200_000, 8_000)
}

/// What a step reported that used `tokens` in all, as prompt and reply.
fn used(tokens: u64) -> Usage {
    Usage { input: tokens - 100, output: 100, ..Usage::default() }
}

/// A question and an answer that together used so many tokens.
fn step(usage: Usage) -> Conversation {
    Chat::new().user("Port the parser.").reply_with_usage("Done.", usage).conversation()
}

fn after_step(conversation: &Conversation) -> Plan {
    plan_at(conversation, &model(), &OPENCODE, Moment::AfterResponse)
}

/// A step that called a tool, with its result; it used one token too many.
fn interrupted_loop() -> Conversation {
    let chat = Chat::new().user("Port the parser.").reply_with_usage("I look.", used(192_001));
    chat.call("c", "grep", "{}").result("c", "grep", "found").conversation()
}

mod section_3_when_auto_compaction_triggers {
    use super::*;

    mod overflow_check {
        use super::*;

        fn usable(limits: &ModelLimits) -> Option<u64> {
            Budget::of(limits, &OPENCODE).map(|budget| budget.trigger)
        }

        /// `outputReserve = min(outputLimit, globalOutputCap)`; the specification adds a quarter of the window.
        #[test]
        fn usable_is_the_context_less_the_output_reserve() {
            assert_eq!(usable(&limits(200_000, 8_000)), Some(192_000));
            assert_eq!(usable(&limits(200_000, 64_000)), Some(168_000));
            assert_eq!(usable(&limits(16_000, 8_000)), Some(12_000));
        }

        /// "Fallback to `globalOutputCap` if `outputLimit` is not set".
        #[test]
        fn an_unset_output_limit_reserves_the_cap() {
            assert_eq!(usable(&oneclaw_tests::window(200_000)), Some(168_000));
        }

        /// `usable = inputLimit ?? …`.
        #[test]
        fn a_dedicated_input_limit_is_preferred() {
            let limits = |input| ModelLimits { input_limit: Some(input), ..limits(200_000, 8_000) };
            assert_eq!(usable(&limits(150_000)), Some(150_000));
            // The document would take this one too; the trigger never lies above what may be sent.
            assert_eq!(usable(&limits(199_000)), Some(192_000));
            let alone = ModelLimits { window: None, ..limits(150_000) };
            assert_eq!(usable(&alone), Some(150_000));
        }

        /// `overflow = (total > usable)`.
        #[test]
        fn a_step_that_uses_more_than_usable_overflows() {
            assert_eq!(sent(&after_step(&step(used(192_000)))), SendReason::Fits);
            let plan = after_step(&step(used(192_001)));
            assert_eq!(compaction(&plan).reason, Reason::Threshold);
        }

        /// `total = inputTokens + cacheReadTokens + outputTokens`; the specification adds cache writes, which the
        /// document leaves out although they were sent. Reasoning is part of the output.
        #[test]
        fn every_part_of_the_usage_counts() {
            let all = Usage {
                input: 100_000,
                cache_read: 60_000,
                cache_write: 30_000,
                output: 2_000,
                reasoning: 900,
            };
            assert_eq!(all.total(), 192_000);
            assert_eq!(sent(&after_step(&step(all))), SendReason::Fits);
            for more in [
                Usage { input: 100_001, ..all },
                Usage { cache_read: 60_001, ..all },
                Usage { cache_write: 30_001, ..all },
                Usage { output: 2_001, ..all },
            ] {
                assert_eq!(compaction(&after_step(&step(more))).reason, Reason::Threshold, "{more:?}");
            }
            assert_eq!(sent(&after_step(&step(Usage { reasoning: 2_000, ..all }))), SendReason::Fits);
        }

        /// The newest step is the one that counts, not the largest.
        #[test]
        fn the_newest_step_counts() {
            let chat = Chat::new().user("a").reply_with_usage("b", used(195_000));
            let conversation = chat.user("c").reply_with_usage("d", used(20_000)).conversation();
            assert_eq!(sent(&after_step(&conversation)), SendReason::Fits);
        }

        /// "If `contextLimit == 0`, treat as “unlimited” and never auto-compact."
        #[test]
        fn a_context_limit_of_zero_is_unlimited() {
            for window in [Some(0), None] {
                let limits = ModelLimits { window, input_limit: None, max_output: Some(8_000) };
                for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
                    let plan = plan_at(&step(used(9_000_000)), &limits, &OPENCODE, moment);
                    assert_eq!((sent(&plan), plan.request.max_output), (SendReason::WindowUnknown, None));
                }
            }
        }

        /// `compaction.auto=false`: no summary is asked for; what is over the limit goes without a model.
        #[test]
        fn auto_off_asks_no_model() {
            let policy = set(&OPENCODE, &["auto=false"]);
            let plan = plan_at(&step(used(192_001)), &model(), &policy, Moment::AfterResponse);
            assert_eq!(compaction(&plan).strategy, Strategy::Digest);
            assert!(plan.summary_requests().is_empty());
            // The provider's own count says that it fits: nothing has to be done.
            let plan = plan_of_size(&step(used(192_001)), &model(), &policy, Moment::AfterResponse, 100_000);
            assert_eq!(sent(&plan), SendReason::AutoOff);
        }
    }

    mod trigger_timing {
        use super::*;

        /// "The check happens **after** a model step finishes": after a reply and after its tools.
        #[test]
        fn compared_after_each_step() {
            let at = |conversation: &Conversation, moment| {
                compaction(&plan_at(conversation, &model(), &OPENCODE, moment)).reason
            };
            assert_eq!(at(&step(used(192_001)), Moment::AfterResponse), Reason::Threshold);
            assert_eq!(at(&interrupted_loop(), Moment::AfterTools), Reason::Threshold);
        }

        /// Usage over `usable` is no reason before a send when the request itself is known to fit.
        #[test]
        fn not_compared_before_a_send() {
            let chat = Chat::new().user("a").reply_with_usage("b", used(195_000)).user("c");
            let conversation = chat.conversation();
            let at = |moment| plan_of_size(&conversation, &model(), &OPENCODE, moment, 100_000);
            assert_eq!(sent(&at(Moment::BeforeSend)), SendReason::Fits);
            assert_eq!(compaction(&at(Moment::AfterResponse)).reason, Reason::Threshold);
        }

        /// Not in the document: what is over the hard limit is never sent, so it is checked before a send as well.
        #[test]
        fn the_hard_limit_is_checked_before_a_send() {
            let conversation = talk(3, 20).user("Next.").conversation();
            let at = |tokens| plan_of_size(&conversation, &model(), &OPENCODE, Moment::BeforeSend, tokens);
            assert_eq!(sent(&at(192_000)), SendReason::Fits);
            let plan = at(192_001);
            assert_eq!((compaction(&plan).reason, compaction(&plan).covers), (Reason::HardLimit, 6));
        }
    }
}

mod section_4_summary_pivot {
    use super::*;

    mod execute {
        use super::*;
        use oneclaw_context::summary::gate::{Accepted, Rejection};

        /// Everything is summarised and the tail is empty; what the user wrote last stays, as in every request.
        #[test]
        fn everything_is_covered() {
            let conversation = step(used(192_001));
            let plan = after_step(&conversation);
            let decided = compaction(&plan);
            assert_eq!((decided.strategy, decided.covers), (Strategy::Continuation, 2));
            assert_eq!((plan.boundary, plan.tail), (None, vec![]));
            let summary = framed("{{summary}}");
            let expected = [
                ("user", "What did we do so far?"),
                ("assistant", summary.as_str()),
                ("user", "Port the parser."),
            ];
            assert_eq!(texts(&plan.request), expected);
        }

        /// A question that nobody has answered yet is not part of what is summarised.
        #[test]
        fn an_unanswered_question_stays() {
            let chat = Chat::new().user("Port the parser.").reply_with_usage("Done.", used(192_001));
            let conversation = chat.user("And the lexer?").conversation();
            let plan = plan_at(&conversation, &model(), &OPENCODE, Moment::BeforeSend);
            assert_eq!(compaction(&plan).covers, 2);
            assert_eq!((plan.boundary.clone(), plan.tail.clone()), (Some(id(3)), ids(3..=3)));
            assert!(!summary_request(&plan).messages[0].text().contains("And the lexer?"));
            let summary = framed("{{summary}}");
            let expected = [
                ("user", "What did we do so far?"),
                ("assistant", summary.as_str()),
                ("user", "And the lexer?"),
            ];
            assert_eq!(texts(&plan.request), expected);
        }

        /// "No tools provided"; history, question and final instruction in one message.
        #[test]
        fn the_compaction_call_has_history_question_and_instruction_but_no_tools() {
            let chat = Chat::new().user("Port the parser.").reply("").call("c", "grep", "{}");
            let chat =
                chat.result("c", "grep", "found").reply_with_usage("Done.", used(192_001)).tool("grep");
            let plan = after_step(&chat.conversation());
            let request = summary_request(&plan);
            let text = "<conversation>\n**User:** Port the parser.\n\n**Tool call:** grep {}\n\n\
                        **Tool result:** grep: found\n\n**Assistant:** Done.\n</conversation>\n\n\
                        What did we do so far?\n\nWrite a detailed prompt from which the conversation above can be \
                        continued: what we did, what we are doing, which files we are working on and what we are \
                        going to do next. Whoever continues will not see our conversation.";
            assert_eq!(request.messages, [RequestMessage::User { text: text.into(), attachments: vec![] }]);
            assert_eq!((request.tools, request.max_output), (vec![], Some(2_048)));
        }

        /// "Prefer a compaction-specific model if configured": its window decides how much it is asked at once.
        #[test]
        fn another_model_may_summarise() {
            use oneclaw_context::plan::{Inputs, Summariser, plan};
            let conversation = talk(20, 200).conversation();
            let (state, chat_model) = (Default::default(), model());
            let inputs = Inputs::new(&conversation, &chat_model, &OPENCODE, &state, Moment::Manual);
            assert_eq!(plan(&inputs).summary_requests().len(), 1);
            let small = Summariser { limits: limits(8_000, 2_000), tariff: tariff() };
            let requests = plan(&Inputs { summariser: Some(&small), ..inputs }).summary_requests();
            assert!(requests.len() > 2 && requests.iter().all(|r| r.upper <= 6_000), "{}", requests.len());
        }

        /// The result is free text; the document stores whatever comes, here it must have finished.
        #[test]
        fn any_finished_text_is_a_summary() {
            let conversation = talk(9, 60).conversation();
            let plan = plan_at(&conversation, &model(), &OPENCODE, Moment::Manual);
            let gate = oneclaw_tests::gate(&plan);
            let text = "We ported the parser; the lexer is next.";
            let accepted = Accepted { text: text.into(), facts_added: 0, facts_dropped: 0 };
            assert_eq!(gate.accept(&finished(text)), Ok(accepted));
            assert_eq!(gate.accept(&finished(" ")), Err(Rejection::Blank));
        }

        /// A pass that fails: the document says nothing, the specification makes a digest.
        #[test]
        fn a_failed_pass_leaves_a_digest() {
            let conversation = step(used(192_001));
            let plan = crate::documents::plan_after_failure(
                &conversation,
                &model(),
                &OPENCODE,
                Moment::AfterResponse,
            );
            assert_eq!((compaction(&plan).strategy, compaction(&plan).covers), (Strategy::Digest, 2));
            assert_eq!(texts(&plan.request)[1], ("assistant", framed(local_text(&plan)).as_str()));
        }
    }

    mod resume {
        use super::*;

        /// "This keeps the agent loop moving": the line follows what the user wrote last.
        #[test]
        fn an_interrupted_tool_loop_is_told_to_go_on() {
            let plan = plan_at(&interrupted_loop(), &model(), &OPENCODE, Moment::AfterTools);
            assert_eq!(compaction(&plan).auto_continue.as_deref(), Some("Continue if you have next steps"));
            let summary = framed("{{summary}}");
            let expected = [
                ("user", "What did we do so far?"),
                ("assistant", summary.as_str()),
                ("user", "Port the parser.\n\nContinue if you have next steps"),
            ];
            assert_eq!(texts(&plan.request), expected);
        }

        /// Nobody waits after a complete reply; the document would continue there too.
        #[test]
        fn a_complete_reply_is_not_continued() {
            let plan = after_step(&step(used(192_001)));
            assert_eq!(compaction(&plan).auto_continue, None);
        }

        /// `auto: false`, and a question that waits for its answer anyway.
        #[test]
        fn neither_a_manual_pivot_nor_an_open_question_is_continued() {
            let plan = plan_at(&interrupted_loop(), &model(), &OPENCODE, Moment::Manual);
            assert_eq!(compaction(&plan).auto_continue, None);
            let chat = Chat::new().user("a").reply_with_usage("b", used(192_001)).user("c");
            let plan = plan_at(&chat.conversation(), &model(), &OPENCODE, Moment::BeforeSend);
            assert_eq!(compaction(&plan).auto_continue, None);
        }

        /// The document appends a synthetic user message; here the line is the epoch's, and no row appears.
        #[test]
        fn the_line_is_kept_in_the_epoch() {
            let conversation = interrupted_loop();
            let plan = plan_at(&conversation, &model(), &OPENCODE, Moment::AfterTools);
            let after = plan.carry_out(conversation, "We ported it.");
            let epoch = after.epoch.as_ref().unwrap();
            assert_eq!(epoch.auto_continue.as_deref(), Some(AUTO_CONTINUE));
            assert_eq!(after.rows, []);
            let next = plan_at(&after, &model(), &OPENCODE, Moment::BeforeSend);
            assert_eq!(sent(&next), SendReason::Fits);
            let summary = framed("We ported it.");
            let expected = [
                ("user", "What did we do so far?"),
                ("assistant", summary.as_str()),
                ("user", "Port the parser.\n\nContinue if you have next steps"),
            ];
            assert_eq!(texts(&next.request), expected);
        }

        #[test]
        fn the_line_can_be_turned_off() {
            let policy = set(&OPENCODE, &["afterwards=carry_on"]);
            let plan = plan_at(&interrupted_loop(), &model(), &policy, Moment::AfterTools);
            assert_eq!(compaction(&plan).auto_continue, None);
            assert_eq!(texts(&plan.request)[2], ("user", "Port the parser."));
        }
    }

    mod future_context {
        use super::*;

        /// "Keep only messages from that point forward (including the summary message)."
        #[test]
        fn only_what_follows_the_pivot_is_sent() {
            let conversation = step(used(192_001));
            let plan = after_step(&conversation);
            let mut after = plan.carry_out(conversation, "We ported the parser.");
            let later = Chat::new().user("Now the lexer.").reply("Lexed.").user("And tests.");
            after.rows.extend(later.conversation().rows);
            let next = plan_at(&after, &model(), &OPENCODE, Moment::BeforeSend);
            let texts = texts(&next.request);
            let summary = framed("We ported the parser.");
            assert_eq!(texts[..2], [("user", "What did we do so far?"), ("assistant", summary.as_str())]);
            assert!(texts[2].1.ends_with("Now the lexer."), "{texts:?}");
            assert_eq!(texts[3..], [("assistant", "Lexed."), ("user", "And tests.")]);
            rules::check_shape(&next.request).unwrap();
        }

        /// "The *single source of truth* for everything before the pivot": only steps after it can overflow again.
        #[test]
        fn overflow_is_counted_from_the_pivot_on() {
            let conversation = step(used(192_001));
            let plan = after_step(&conversation);
            let after = plan.carry_out(conversation, "We ported the parser.");
            assert_eq!(sent(&after_step(&after)), SendReason::Fits);
            let then = |usage: Usage| {
                let rows = Chat::new().at(3_000).user("Now the lexer.").reply_with_usage("Lexed.", usage);
                after_step(&Conversation { rows: rows.conversation().rows, ..after.clone() })
            };
            assert_eq!(sent(&then(used(192_000))), SendReason::Fits);
            let next = then(used(192_001));
            assert_eq!((compaction(&next).reason, compaction(&next).covers), (Reason::Threshold, 2));
        }

        /// The second pivot is made of the first summary, once, and of what followed it.
        #[test]
        fn the_next_pivot_covers_what_followed_the_last_one() {
            let chat = Chat::new().user("Port the parser.").reply("Ported.").compacted("The parser is done.");
            let conversation = chat.user("Now the lexer.").reply("Lexed.").conversation();
            let plan = plan_at(&conversation, &model(), &OPENCODE, Moment::Manual);
            assert_eq!(compaction(&plan).covers, 2);
            let text = summary_request(&plan).messages[0].text().to_owned();
            let start = "Previous conversation summary:\nThe parser is done.\n\n\
                         Additional conversation to incorporate:\n\n<conversation>\n**User:** Now the lexer.\n\n\
                         **Assistant:** Lexed.\n</conversation>\n\nWhat did we do so far?\n\n";
            assert!(text.starts_with(start), "{text}");
            assert!(!text.contains("Ported."));
        }
    }
}

mod section_5_tool_output_pruning {
    use super::*;
    use oneclaw_context::prune::{Mark, Marks};
    use oneclaw_model::{Attachment, ToolStatus};

    /// A turn with results of so many tokens each (`tokens ≈ chars/4`) in the rows m4, m7, m10 …, the oldest first.
    fn turn(tokens: &[usize]) -> Chat {
        named(tokens.iter().map(|t| (*t, "bash")))
    }

    fn named<'a>(results: impl IntoIterator<Item = (usize, &'a str)>) -> Chat {
        let batches = results.into_iter().enumerate();
        batches.fold(Chat::new().user("Look around."), |chat, (n, (tokens, name))| {
            chat.batch(&format!("c{n}"), name, "x".repeat(4 * tokens))
        })
    }

    /// Two user turns more, which protect themselves.
    fn later(chat: Chat) -> Conversation {
        chat.reply("Done.").user("Next.").reply("Done.").user("Next.").reply("Done.").conversation()
    }

    /// Which results, counted from the oldest, are pruned after the step.
    fn pruned(conversation: &Conversation) -> Vec<usize> {
        pruned_by(conversation, &OPENCODE, Moment::AfterResponse)
    }

    fn pruned_by(conversation: &Conversation, policy: &Policy, moment: Moment) -> Vec<usize> {
        let marks = plan_at(conversation, &UNKNOWN, policy, moment).marks;
        assert!(marks.values().all(|mark| *mark == Mark::Cleared));
        (0..40).filter(|n| marks.contains_key(&id(4 + 3 * n))).collect()
    }

    mod strategy {
        use super::*;

        /// `PROTECT = 40_000`, and the result that crosses it goes.
        #[test]
        fn results_beyond_the_newest_40_000_tokens_go() {
            assert_eq!(pruned(&later(turn(&[15_000, 15_000, 10_000, 10_000, 10_000, 10_000]))), [0, 1]);
            // Exactly 40,000 are kept; with one token more in the newest, the fourth crosses the line.
            let kept = [10_000, 10_000, 10_000, 10_000];
            assert_eq!(pruned(&later(turn(&[&[30_000], &kept[..]].concat()))), [0]);
            let crossed = [10_000, 10_000, 10_000, 10_001];
            assert_eq!(pruned(&later(turn(&[&[30_000], &crossed[..]].concat()))), [0, 1]);
        }

        /// One result that crosses the line from far below is pruned whole.
        #[test]
        fn the_crossing_result_is_pruned() {
            assert_eq!(pruned(&later(turn(&[50_000, 1_000]))), [0]);
            assert_eq!(pruned(&later(turn(&[1, 50_000, 39_999]))), [0, 1]);
        }

        /// "If the estimated pruned tokens exceeds `MIN_PRUNE`", 20,000.
        #[test]
        fn nothing_goes_unless_more_than_20_000_tokens_are_won() {
            assert_eq!(pruned(&later(turn(&[20_000, 40_000]))), Vec::<usize>::new());
            assert_eq!(pruned(&later(turn(&[20_001, 40_000]))), [0]);
            assert_eq!(pruned(&later(turn(&[10_000, 10_001, 40_000]))), [0, 1]);
        }

        /// "Keep the most recent ~1–2 user turns unpruned": two, and they do not use up `PROTECT`.
        #[test]
        fn the_newest_two_user_turns_stay() {
            let old = || turn(&[30_000, 40_000]);
            assert_eq!(pruned(&later(old())), [0]);
            // As the newest turn, and as the one before.
            assert_eq!(pruned(&old().reply("Done.").conversation()), Vec::<usize>::new());
            assert_eq!(
                pruned(&old().reply("Done.").user("Next.").reply("x").conversation()),
                Vec::<usize>::new()
            );
            // A turn of 100,000 tokens uses it up as soon as it is the third newest, not before.
            let big =
                |chat: Chat| chat.user("Next.").batch("big", "bash", "y".repeat(400_000)).reply("Done.");
            let marks = after_step(&later(big(old()))).marks;
            assert_eq!(marks, [id(4), id(7), id(11)].map(|id| (id, Mark::Cleared)).into());
            let newest =
                old().reply("x").user("Next.").batch("big", "bash", "y".repeat(400_000)).user("Next.");
            assert_eq!(pruned(&newest.conversation()), [0]);
        }

        /// "Excluding protected tool types (example: keep `skill` outputs)": neither pruned nor counted.
        #[test]
        fn skill_outputs_stay() {
            let results = [(30_000, "bash"), (50_000, "skill"), (30_000, "bash"), (40_000, "bash")];
            assert_eq!(pruned(&later(named(results))), [0, 2]);
            let bash = results.map(|(tokens, _)| (tokens, "bash"));
            assert_eq!(pruned(&later(named(bash))), [0, 1, 2]);
        }

        /// Other tools may be protected, by the policy or by themselves.
        #[test]
        fn other_tools_may_be_protected() {
            let conversation = later(named([(30_000, "notes"), (30_000, "bash"), (40_000, "bash")]));
            assert_eq!(pruned(&conversation), [0, 1]);
            let policy = set(&OPENCODE, &["protected_tools=skill, notes"]);
            assert_eq!(pruned_by(&conversation, &policy, Moment::AfterResponse), [1]);
            let mut conversation =
                later(named([(30_000, "notes"), (30_000, "bash"), (40_000, "bash")]).tool("notes"));
            conversation.fixed.tools[0].protected = true;
            assert_eq!(pruned(&conversation), [1]);
        }

        /// "Completed tool parts": a failed or timed out call says why, and stays.
        #[test]
        fn only_completed_results_go() {
            let chat = ["a", "b"].into_iter().zip([ToolStatus::Error, ToolStatus::Timeout]).fold(
                Chat::new().user("Look around."),
                |chat, (call, status)| {
                    let chat = chat.reply("").call(call, "bash", "{}");
                    chat.result_with(call, "bash", "x".repeat(200_000), status, vec![])
                },
            );
            let chat = chat.batch("c", "bash", "x".repeat(200_000)).batch("d", "bash", "x".repeat(160_000));
            assert_eq!(pruned(&later(chat)), [2]);
        }

        /// "Stop scanning once you hit … a tool part already marked as compacted (idempotence boundary)".
        #[test]
        fn the_scan_stops_at_a_result_that_is_already_cleared() {
            let mut conversation = later(turn(&[90_000, 30_000, 30_000, 40_000]));
            conversation.marks.insert(id(7), Mark::Cleared);
            assert_eq!(pruned(&conversation), [1, 2]);
        }

        #[test]
        fn a_second_pass_changes_nothing() {
            let conversation = later(turn(&[30_000, 30_000, 30_000, 30_000]));
            let plan = after_step(&conversation);
            assert_eq!(plan.marks, [id(4), id(7), id(10)].map(|id| (id, Mark::Cleared)).into());
            let after = plan.carry_out(conversation, "");
            let again = after_step(&after);
            assert_eq!((&again.marks, &again.request), (&plan.marks, &plan.request));
        }

        /// "Stop scanning once you hit the latest summary pivot": what is before it is not even there.
        #[test]
        fn results_before_the_pivot_are_not_scanned() {
            let chat = turn(&[90_000, 90_000]).compacted("We looked around.").user("Again.");
            let conversation = later(chat.batch("d", "bash", "x".repeat(120_000)));
            assert_eq!(after_step(&conversation).marks, Marks::new());
        }

        /// "Ongoing maintenance" after a step; what is marked stays marked when the next message is sent.
        #[test]
        fn pruning_happens_after_steps_and_lasts() {
            let conversation = later(turn(&[30_000, 40_000]));
            assert_eq!(pruned_by(&conversation, &OPENCODE, Moment::BeforeSend), Vec::<usize>::new());
            assert_eq!(pruned_by(&conversation, &OPENCODE, Moment::AfterTools), [0]);
            let after = after_step(&conversation).carry_out(conversation, "");
            assert_eq!(pruned_by(&after, &OPENCODE, Moment::BeforeSend), [0]);
        }
    }

    mod serialization {
        use super::*;

        /// "`[Old tool result content cleared]`", "drop binary/media attachments", "the real tool output remains".
        #[test]
        fn a_pruned_result_is_a_placeholder_without_attachments() {
            let picture = Attachment {
                mime: "image/png".into(),
                name: "shot".into(),
                width: Some(80),
                height: Some(60),
                data: None,
            };
            let with_picture = |chat: Chat, call: &str, tokens: usize| {
                let chat = chat.reply("").call(call, "look", "{}");
                let output = "x".repeat(4 * tokens);
                chat.result_with(call, "look", output, ToolStatus::Success, vec![picture.clone()])
            };
            let chat = with_picture(with_picture(Chat::new().user("Look."), "a", 30_000), "b", 40_000);
            let conversation = later(chat);
            let plan = after_step(&conversation);
            assert_eq!(sent(&plan), SendReason::Fits);
            let result = |call: &str, text: &str, attachments: &[Attachment]| RequestMessage::ToolResult {
                call: call.into(),
                name: "look".into(),
                text: text.into(),
                failed: false,
                attachments: attachments.to_vec(),
            };
            let cleared = result("a", "[Old tool result content cleared]", &[]);
            assert_eq!(plan.request.messages[2], cleared);
            let kept = result("b", &"x".repeat(160_000), &[picture]);
            assert_eq!(plan.request.messages[4], kept);
            assert_eq!(plan.carry_out(conversation.clone(), "").rows, conversation.rows);
        }
    }

    /// `compaction.prune=false`.
    #[test]
    fn can_be_disabled() {
        let conversation = later(turn(&[30_000, 30_000, 40_000]));
        let policy = set(&OPENCODE, &["prune=false"]);
        assert_eq!(pruned_by(&conversation, &policy, Moment::AfterResponse), Vec::<usize>::new());
        let plan = plan_at(&conversation, &UNKNOWN, &policy, Moment::AfterResponse);
        assert!(results(&plan.request).iter().all(|text| text.starts_with("xxxx")));
    }

    /// §7: "adjustable thresholds (`PROTECT`, `MIN_PRUNE`)", and the number of turns.
    #[test]
    fn the_thresholds_are_knobs() {
        assert_eq!(
            (OPENCODE.prune_protect, OPENCODE.prune_min, OPENCODE.prune_keep_turns),
            (40_000, 20_000, 2)
        );
        let conversation = later(turn(&[50, 40, 30, 20]));
        let by = |knobs: &[&str]| pruned_by(&conversation, &set(&OPENCODE, knobs), Moment::AfterResponse);
        assert_eq!(by(&["prune_protect=50", "prune_min=89"]), [0, 1]);
        assert_eq!(by(&["prune_protect=50", "prune_min=90"]), Vec::<usize>::new());
        assert_eq!(by(&["prune_protect=49", "prune_min=0"]), [0, 1, 2]);
        assert_eq!(by(&["prune_protect=0", "prune_min=0", "prune_keep_turns=3"]), Vec::<usize>::new());
    }
}

mod section_6_prompts {
    use super::*;

    fn system() -> String {
        let plan = plan_at(&talk(3, 60).conversation(), &model(), &OPENCODE, Moment::Manual);
        summary_request(&plan).system.unwrap()
    }

    /// §6.1: the six points, in our own words, in the document's order.
    #[test]
    fn the_system_prompt_asks_for_all_six_points() {
        let system = system();
        let points = [
            "what was done",
            "what is being worked on",
            "which files are being changed",
            "what has to be done next",
            "which requests, constraints and preferences of the user stay in force",
            "which technical decisions were taken and why",
        ];
        let places: Vec<Option<usize>> = points.iter().map(|point| system.find(point)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    }

    /// §6.1: "detailed but concise", "comprehensive enough … but concise enough".
    #[test]
    fn the_system_prompt_asks_for_detail_and_brevity() {
        let system = system();
        assert!(system.contains("detailed but brief"));
        assert!(system.contains("Complete enough") && system.contains("short enough"));
    }

    /// §6.2: the last instruction names what we did, are doing, the files, what is next, and why all must be said;
    /// §6.3: the question stands before it.
    #[test]
    fn the_last_message_asks_the_question_and_for_a_continuation() {
        let plan = plan_at(&talk(3, 60).conversation(), &model(), &OPENCODE, Moment::Manual);
        let request = summary_request(&plan);
        let (_, closing) = request.messages[0].text().split_once("</conversation>\n\n").unwrap();
        assert!(closing.starts_with("What did we do so far?\n\nWrite a detailed prompt"), "{closing}");
        for asked in ["what we did", "what we are doing", "which files", "going to do next", "will not see"] {
            assert!(closing.contains(asked), "{asked}");
        }
    }

    /// §6.2: "optionally … extra context lines".
    #[test]
    fn extra_instructions_come_last() {
        use oneclaw_context::plan::{Inputs, plan};
        let conversation = talk(3, 60).conversation();
        let (state, chat_model) = (Default::default(), model());
        let inputs = Inputs::new(&conversation, &chat_model, &OPENCODE, &state, Moment::Manual);
        let plan = plan(&Inputs { focus: Some("the branch name"), ..inputs });
        let request = summary_request(&plan);
        let text = request.messages[0].text();
        assert!(text.ends_with("\nGive particular care to: the branch name"), "{text}");
    }
}

mod section_7_configuration_surface {
    use super::*;

    /// Both switches are on by default; the rest is what makes the preset the document's.
    #[test]
    fn the_defaults() {
        let expected = Policy {
            auto: true,
            prune: true,
            trigger: Trigger::Used,
            check_before_send: false,
            check_after_tools: true,
            check_after_response: true,
            tail: Tail::Empty,
            style: Style::Continuation,
            placement: Placement::Assistant,
            pruning: Pruning::ByBudget,
            prune_protect: 40_000,
            prune_min: 20_000,
            afterwards: Afterwards::Continue,
            summary_model: None,
            ..OPENCODE
        };
        assert_eq!(OPENCODE, expected);
    }

    /// The switches do not touch each other: pruning goes on without summaries.
    #[test]
    fn the_switches_are_independent() {
        let long = "x".repeat(200_000);
        let chat = Chat::new().user("a").batch("c", "bash", long.as_str()).reply("b").user("c").reply("d");
        let conversation = chat.user("e").reply("f").conversation();
        let policy = set(&OPENCODE, &["auto=false"]);
        let plan = plan_at(&conversation, &model(), &policy, Moment::AfterResponse);
        assert_eq!(results(&plan.request), ["[Old tool result content cleared]"]);
        let plan =
            plan_at(&step(used(192_001)), &model(), &set(&OPENCODE, &["prune=false"]), Moment::AfterResponse);
        assert!(matches!(compaction(&plan).work, Work::Summarise(_)));
    }

    /// A manual pivot works with `auto` off.
    #[test]
    fn auto_off_still_allows_a_manual_pivot() {
        let conversation = Chat::new().user(words(200)).reply(words(200)).conversation();
        let plan = plan_at(&conversation, &model(), &set(&OPENCODE, &["auto=false"]), Moment::Manual);
        let decided = compaction(&plan);
        assert_eq!((decided.reason, decided.strategy), (Reason::Manual, Strategy::Continuation));
    }
}
