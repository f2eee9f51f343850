//! sven's "Prompt Compaction", section by section, under the preset `sven`.
//!
//! Tested elsewhere, with the part they belong to:
//! - "Architecture overview", "Data flow diagram": the order of submit, stream, tools and checks (agent loop)
//! - "Layer 1": when `update_calibration` is called, and that the factor survives a restart (agent loop, database)
//! - "Layer 2": snapshot and restore of the session (database: rows never change; the epoch is one atomic commit)
//! - "Layer 4": which tool has which `OutputCategory`, the default `Generic` (tools)
//! - "Event reporting": `ContextCompacted`, the log line, `turn` (events)
//!
//! Without a counterpart: the dynamic context block and its part of `schema_overhead`.

// Support of tests: a fault should stop them.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use crate::documents::{
    compaction, finished, ids, limits, local_text, plan_after_failure, plan_of_size, sent, set, size,
    summary_request, talk,
};
use oneclaw_context::assemble::{PLACEHOLDER, QUESTION};
use oneclaw_context::plan::{SendReason, Strategy};
use oneclaw_context::policy::{Pruning, Ratio, ResultCap, SVEN, Style, Tail};
use oneclaw_context::{Budget, Conversation, Moment, Policy, Reason};
use oneclaw_model::{ModelLimits, RequestMessage};
use oneclaw_tests::{Chat, framed, plan_at, rules, words};

/// The longest reply of the models below.
const OUTPUT: u64 = 400;

/// A model whose input budget the conversation fills to that many percent.
fn filled_to(conversation: &Conversation, percent: u64) -> ModelLimits {
    limits(size(conversation, &SVEN) * 100 / percent + OUTPUT, OUTPUT)
}

/// Ten turns, then six rows: a question, a tool batch, an answer, the next question.
fn session() -> Conversation {
    let last = talk(10, 50).user("Which tests fail?").batch("c", "shell", "two of nine").reply("Two.");
    last.user("Mend them.").system("Be brief.").conversation()
}

mod the_problem {
    use super::*;

    /// "The safe input limit is `context_window − max_output_tokens`, not the full window."
    #[test]
    fn the_safe_input_limit_is_the_window_less_the_longest_reply() {
        let budget = Budget::of(&limits(128_000, 16_384), &SVEN).unwrap();
        assert_eq!((budget.reserve, budget.hard), (16_384, 111_616));
    }

    /// The document would take all 64,000 of such a model; the specification reserves 32,000 at most.
    #[test]
    fn the_reserve_is_capped() {
        let budget = Budget::of(&limits(200_000, 64_000), &SVEN).unwrap();
        assert_eq!((budget.reserve, budget.hard), (32_000, 168_000));
    }

    /// The document would leave 1,000; the specification reserves a quarter of the window at most.
    #[test]
    fn the_reserve_leaves_three_quarters_of_a_small_window() {
        let budget = Budget::of(&limits(8_000, 7_000), &SVEN).unwrap();
        assert_eq!((budget.reserve, budget.hard), (2_000, 6_000));
    }

    /// "Tool schemas are sent with every request but are not stored": the request has them, so they are counted.
    #[test]
    fn tool_schemas_are_part_of_the_request() {
        let conversation = talk(2, 10).tool("grep").tool("shell").conversation();
        let plan = plan_at(&conversation, &limits(8_000, OUTPUT), &SVEN, Moment::BeforeSend);
        let names: Vec<&str> = plan.request.tools.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["grep", "shell"]);
    }
}

mod layer_1_calibrated_token_accounting {
    use super::*;
    use oneclaw_context::estimate::{Calibration, Estimate, EstimatorState, simple};
    use oneclaw_context::{Inputs, plan};
    use oneclaw_model::Usage;

    /// "The budget": every size follows from `input_budget()`, here 100,000.
    #[test]
    fn all_thresholds_are_shares_of_the_input_budget() {
        let expected = Budget {
            window: Some(108_000),
            base: 108_000,
            reserve: 8_000,
            hard: 100_000,
            most: 106_976,
            trigger: 74_999,
            target: 54_000,
            summary_cap: 2_048,
            emergency: Some(95_000),
        };
        assert_eq!(Budget::of(&limits(108_000, 8_000), &SVEN), Some(expected));
    }

    /// "Each message's character count divided by 4"; the document gives 0 to three characters, RFC-011 gives 1.
    #[test]
    fn approx_tokens_is_a_quarter_of_the_characters() {
        let counts = ["", "abc", "abcd", "abcdefg", "abcdefgh"].map(simple);
        assert_eq!(counts, [0, 1, 1, 1, 2]);
        assert_eq!(simple(&"x".repeat(18_340)), 4_585);
    }

    #[test]
    fn the_factor_starts_at_one() {
        assert_eq!(Calibration::default().factor(), 1.0);
    }

    /// `calibration_factor = 0.8 × calibration_factor + 0.2 × ratio`.
    #[test]
    fn the_factor_is_a_moving_average_of_the_ratio() {
        let mut calibration = Calibration::default();
        let mut by_formula = 1.0;
        for (actual, estimated) in [(1_500, 1_000), (1_500, 1_000), (900, 1_000), (61_234, 48_000)] {
            calibration = calibration.after(actual, estimated);
            by_formula = 0.8 * by_formula + 0.2 * (actual as f64 / estimated as f64);
            assert_eq!(calibration.factor(), by_formula);
        }
        assert!((Calibration::default().after(1_500, 1_000).factor() - 1.1).abs() < 1e-12);
    }

    /// "The slow EMA (α = 0.2) resists per-turn spikes": a tenfold count moves the factor to 2.8, and back quickly.
    #[test]
    fn a_spike_counts_for_a_fifth() {
        let spike = Calibration::default().after(10_000, 1_000);
        assert!((spike.factor() - 2.8).abs() < 1e-12);
        assert!((spike.after(1_000, 1_000).factor() - 2.44).abs() < 1e-12);
    }

    /// `clamp(calibration_factor, 0.5, 3.0)`, after every step.
    #[test]
    fn the_factor_stays_between_a_half_and_three() {
        let high = Calibration::default().after(11_001, 1_000);
        assert_eq!(high.factor(), 3.0);
        // The next step starts from the clamped value, not from what it would have been.
        assert!((high.after(1_000, 1_000).factor() - 2.6).abs() < 1e-12);
        let low = (0..4).fold(Calibration::default(), |c, _| c.after(1, 1_000_000));
        assert_eq!(low.factor(), 0.5);
    }

    /// "`actual_input_tokens` is `input_tokens + cache_read_tokens`"; the specification adds what was written to the
    /// cache, which was sent as well.
    #[test]
    fn cached_tokens_count_as_sent() {
        let usage = Usage { input: 1_000, cache_read: 20_000, cache_write: 300, output: 900, reasoning: 100 };
        assert_eq!(usage.prompt(), 21_300);
    }

    /// `effective_token_count = token_count × calibration_factor + schema_overhead`; here the factor applies to the
    /// schemas too, as the ratio was taken over both.
    #[test]
    fn the_estimate_is_multiplied_by_the_factor() {
        let conversation = session();
        let with = |calibration: Calibration| {
            let state = EstimatorState { calibration, anchor: None };
            let limits = limits(100_000, OUTPUT);
            plan(&Inputs::new(&conversation, &limits, &SVEN, &state, Moment::BeforeSend)).estimate
        };
        let plain = with(Calibration::default());
        let doubled = with(Calibration::default().after(6, 1));
        let is_double = |more: u64, less: u64| (2 * less - 2..=2 * less).contains(&more);
        assert!(is_double(doubled.expected, plain.expected), "{doubled:?} {plain:?}");
        assert!(is_double(doubled.upper, plain.upper), "{doubled:?} {plain:?}");
        // What decides is never corrected downwards.
        let halved = with((0..9).fold(Calibration::default(), |c, _| c.after(1, 1_000)));
        assert_eq!(halved, Estimate { expected: plain.expected.div_ceil(2), upper: plain.upper });
    }

    /// "Some providers tokenize differently": what was learnt of one brings the trigger forward.
    #[test]
    fn a_learnt_factor_can_fire_the_gate() {
        let conversation = session();
        let model = filled_to(&conversation, 60);
        let with = |calibration: Calibration| {
            let state = EstimatorState { calibration, anchor: None };
            plan(&Inputs::new(&conversation, &model, &SVEN, &state, Moment::BeforeSend))
        };
        assert_eq!(sent(&with(Calibration::default())), SendReason::Fits);
        assert_eq!(compaction(&with(Calibration::default().after(3, 1))).strategy, Strategy::Structured);
    }

    /// `schema_overhead = Σ len(name + description + parameters_json) / 4`.
    #[test]
    fn every_tool_makes_the_estimate_larger() {
        let sizes = [talk(3, 20), talk(3, 20).tool("grep"), talk(3, 20).tool("grep").tool("shell")]
            .map(|chat| size(&chat.conversation(), &SVEN));
        assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
        let longer = talk(3, 20).tool("a_tool_with_a_much_longer_name").conversation();
        assert!(size(&longer, &SVEN) > sizes[1]);
    }

    /// "They would otherwise be invisible to the budget gate."
    #[test]
    fn schemas_alone_can_fire_the_gate() {
        let plain = talk(10, 50).conversation();
        // The trigger of this model is exactly the size without tools.
        let model = limits((size(&plain, &SVEN) + 1) * 4 / 3 + OUTPUT, OUTPUT);
        assert_eq!(Budget::of(&model, &SVEN).unwrap().trigger, size(&plain, &SVEN));
        assert_eq!(sent(&plan_at(&plain, &model, &SVEN, Moment::BeforeSend)), SendReason::Fits);
        let tooled = talk(10, 50).tool("grep").conversation();
        let plan = plan_at(&tooled, &model, &SVEN, Moment::BeforeSend);
        assert_eq!(compaction(&plan).reason, Reason::Threshold);
    }
}

mod layer_2_the_budget_gate {
    use super::*;

    /// An input budget of 100,000.
    fn model() -> ModelLimits {
        limits(108_000, 8_000)
    }

    /// "Before every user submit" and "after every batch of tool results"; not after the response.
    #[test]
    fn fires_before_submit_and_after_tools_only() {
        let at = |moment| plan_of_size(&session(), &model(), &SVEN, moment, 80_000);
        assert_eq!(compaction(&at(Moment::BeforeSend)).reason, Reason::Threshold);
        assert_eq!(compaction(&at(Moment::AfterTools)).reason, Reason::Threshold);
        assert_eq!(sent(&at(Moment::AfterResponse)), SendReason::Fits);
    }

    /// "So a single large tool output cannot cause the *next* model call to overflow."
    #[test]
    fn a_large_tool_output_is_caught_before_the_next_call() {
        let before = talk(10, 50).user("Build it.").conversation();
        let model = filled_to(&before, 70);
        assert_eq!(sent(&plan_at(&before, &model, &SVEN, Moment::BeforeSend)), SendReason::Fits);
        let after = talk(10, 50).user("Build it.").batch("c", "shell", words(160)).conversation();
        let plan = plan_at(&after, &model, &SVEN, Moment::AfterTools);
        assert_eq!(compaction(&plan).strategy, Strategy::Structured);
    }

    /// `context_fraction ≥ trigger_threshold`, with 0.85 − 0.10 = 0.75 of 100,000.
    #[test]
    fn the_threshold_itself_fires() {
        let at = |tokens| plan_of_size(&session(), &model(), &SVEN, Moment::BeforeSend, tokens);
        assert_eq!(sent(&at(74_999)), SendReason::Fits);
        assert_eq!(compaction(&at(75_000)).reason, Reason::Threshold);
    }

    /// `max(trigger_threshold, 0.1)   // never below 10%`.
    #[test]
    fn the_threshold_is_never_below_a_tenth() {
        let trigger = |knobs: &[&str]| Budget::of(&model(), &set(&SVEN, knobs)).unwrap().trigger;
        assert_eq!(trigger(&["threshold=0.30"]), 19_999);
        assert_eq!(trigger(&["threshold=0.20"]), 9_999);
        assert_eq!(trigger(&["threshold=0.15"]), 9_999);
        assert_eq!(trigger(&["threshold=0.05"]), 9_999);
        assert_eq!(trigger(&["overhead_reserve=0.90"]), 9_999);
    }

    mod normal_path {
        use super::*;
        use oneclaw_context::summary::gate::{Finish, Rejection, Reply};
        use oneclaw_model::Usage;

        /// Step 2: "`recent_messages` — the last `keep_n` messages, preserved verbatim".
        #[test]
        fn all_but_the_last_six_messages_are_covered() {
            let conversation = session();
            let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
            let compaction = compaction(&plan);
            assert_eq!((compaction.reason, compaction.strategy), (Reason::Threshold, Strategy::Structured));
            assert_eq!((compaction.covers, plan.tail), (20, ids(21..=26)));
            assert_eq!(plan.boundary, Some("m21".into()));
        }

        /// Step 2: "non-system messages": what is never sent does not count.
        #[test]
        fn notes_and_errors_are_not_counted() {
            let chat = talk(10, 50).user("a").reply("b").note("model changed").error("offline");
            let conversation = chat.user("c").reply("d").user("e").reply("f").conversation();
            let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
            assert_eq!(plan.tail, ids(21..=28));
        }

        /// Steps 4 and 5: one message of material, no tools.
        #[test]
        fn the_summary_call_is_one_message_without_tools() {
            let chat = Chat::new().user("Port the parser.").reply("Which crate?").user(words(300));
            let chat = chat.reply("").call("c", "grep", "{\"path\":\"src\"}").result("c", "grep", words(300));
            let chat = chat.user("a").reply("b").user("c").reply("d").user("e").reply("f").tool("grep");
            let conversation = chat.conversation();
            let model = filled_to(&conversation, 90);
            let plan = plan_at(&conversation, &model, &SVEN, Moment::BeforeSend);
            let request = summary_request(&plan);
            let text = format!(
                "<conversation>\n**User:** Port the parser.\n\n**Assistant:** Which crate?\n\n**User:** {long}\n\n\
                 **Tool call:** grep {{\"path\":\"src\"}}\n\n**Tool result:** grep: {long}\n</conversation>\n\n\
                 Write the summary of the material above now.",
                long = words(300)
            );
            assert_eq!(request.messages, [RequestMessage::User { text, attachments: vec![] }]);
            assert_eq!((request.tools, request.max_output), (vec![], Some(OUTPUT)));
        }

        /// The overhead reserve is there "so that the compaction prompt itself fits".
        #[test]
        fn the_summary_call_fits_the_input_budget() {
            let conversation = session();
            for percent in [76, 85, 94] {
                let model = filled_to(&conversation, percent);
                let plan = plan_at(&conversation, &model, &SVEN, Moment::BeforeSend);
                let hard = plan.budget.unwrap().hard;
                let requests = plan.summary_requests();
                assert!(!requests.is_empty() && requests.iter().all(|r| r.upper <= hard), "{percent}");
            }
        }

        /// Step 6: `[system, assistant(summary), ...recent_messages]`; as messages start with the user, the line
        /// `What did we do so far?` comes first.
        #[test]
        fn the_session_is_rebuilt_around_the_summary() {
            let conversation = session();
            let model = filled_to(&conversation, 85);
            let plan = plan_at(&conversation, &model, &SVEN, Moment::BeforeSend);
            let all = plan_at(&conversation, &model, &set(&SVEN, &["threshold=1"]), Moment::AfterResponse);
            let recent = &all.request.messages[20..];
            let rebuilt = |summary: &str| {
                let user =
                    RequestMessage::User { text: "What did we do so far?".into(), attachments: vec![] };
                let text = framed(summary);
                let assistant = RequestMessage::Assistant { text, calls: vec![], trace: vec![] };
                [&[user, assistant], recent].concat()
            };
            assert_eq!(plan.request.messages, rebuilt(PLACEHOLDER));
            assert_eq!(plan.request.system.as_deref(), Some("Be brief."));

            let after = plan.carry_out(conversation, "## Active Task\nMend two tests.");
            let next = plan_at(&after, &model, &SVEN, Moment::BeforeSend);
            assert_eq!(sent(&next), SendReason::Fits);
            assert_eq!(next.request.messages, rebuilt("## Active Task\nMend two tests."));
        }

        /// The rebuilt session is counted anew: what the provider said of the old one is over.
        #[test]
        fn usage_from_before_the_compaction_no_longer_counts() {
            let usage = Usage { input: 100_000, output: 100, ..Usage::default() };
            let chat = talk(10, 50).user("a").reply_with_usage("b", usage).user("c").reply("d");
            let conversation = chat.user("e").reply("f").conversation();
            let model = limits(130_000, OUTPUT);
            let plan = plan_at(&conversation, &model, &SVEN, Moment::AfterTools);
            assert_eq!(compaction(&plan).strategy, Strategy::Structured);
            let after = plan.carry_out(conversation.clone(), "## Active Task");
            let kept = Conversation { rows: conversation.rows[20..].to_vec(), ..after };
            assert_eq!(sent(&plan_at(&kept, &model, &SVEN, Moment::AfterTools)), SendReason::Fits);
            // A reply after it counts again.
            let rows = Chat::new().at(2_000_000).user("g").reply_with_usage("h", usage).conversation().rows;
            let later = Conversation { rows: [kept.rows.clone(), rows].concat(), ..kept };
            assert!(plan_at(&later, &model, &SVEN, Moment::AfterTools).estimate.upper >= 100_100);
        }

        /// Step 7: `tokens_before` and `tokens_after`.
        #[test]
        fn the_plan_knows_the_size_before_and_after() {
            let conversation = session();
            let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
            assert_eq!(plan.estimate.upper, size(&conversation, &SVEN));
            assert!(plan.request_estimate.upper <= plan.budget.unwrap().target);
        }

        /// "Rolling": the summary before goes into the next one, once.
        #[test]
        fn the_next_compaction_takes_the_summary_along() {
            let chat = Chat::new().user("x").reply("y").compacted("The parser was ported.");
            let chat = (0..12).fold(chat, |chat, n| chat.user(words(50 + n)).reply(words(60 + n)));
            let conversation = chat.user("Go on.").conversation();
            let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
            let request = summary_request(&plan);
            let text = request.messages[0].text();
            let start = "Previous conversation summary:\nThe parser was ported.\n\n\
                         Additional conversation to incorporate:\n\n<conversation>\n**User:** ";
            assert!(text.starts_with(start), "{text}");
            assert_eq!(text.matches("The parser was ported.").count(), 1);
        }

        /// "Fails": the document goes to the emergency path; the specification makes a digest, which says more.
        #[test]
        fn a_failed_summary_becomes_a_digest() {
            let conversation = session();
            let model = filled_to(&conversation, 85);
            let plan = plan_after_failure(&conversation, &model, &SVEN, Moment::BeforeSend);
            let compaction = compaction(&plan);
            assert_eq!((compaction.reason, compaction.strategy), (Reason::Threshold, Strategy::Digest));
            assert_eq!((compaction.covers, &plan.tail), (20, &ids(21..=26)));
            assert!(plan.summary_requests().is_empty());
            let text = local_text(&plan);
            assert!(text.starts_with("Digest of the earlier conversation"), "{text}");
            assert_eq!(plan.request.messages[1].text(), framed(text));
            assert!(plan.request_estimate.upper <= plan.budget.unwrap().trigger);
        }

        /// "Or returns an **empty string**": nothing is stored that could not stand for the conversation.
        #[test]
        fn an_empty_or_unfinished_summary_is_a_failed_one() {
            let conversation = session();
            let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
            let gate = oneclaw_tests::gate(&plan);
            let judged = |reply: Reply<'_>| gate.accept(&reply).unwrap_err();
            assert_eq!(judged(finished("")), Rejection::Blank);
            assert_eq!(judged(finished(" \n")), Rejection::Blank);
            let cut = Reply { finish: Finish::Length, ..finished("## Active Task\nMend") };
            assert_eq!(judged(cut), Rejection::CutByLength);
            let calling = Reply { tool_calls: 1, ..finished("I look first.") };
            assert_eq!(judged(calling), Rejection::CalledTool);
        }
    }

    mod emergency_path {
        use super::*;

        /// "When `context_fraction ≥ 0.95`"; below, the normal path.
        #[test]
        fn begins_at_exactly_95_percent() {
            let at = |tokens| plan_of_size(&session(), &model(), &SVEN, Moment::BeforeSend, tokens);
            assert_eq!(compaction(&at(94_999)).strategy, Strategy::Structured);
            assert_eq!(compaction(&at(95_000)).strategy, Strategy::Emergency);
            assert_eq!(compaction(&at(400_000)).strategy, Strategy::Emergency);
        }

        /// "Drop all non-system messages except the last `keep_n`. Prepend a canned notice … No model call."
        #[test]
        fn leaves_a_notice_and_the_last_six_messages() {
            let conversation = session();
            let model = filled_to(&conversation, 96);
            let plan = plan_at(&conversation, &model, &SVEN, Moment::BeforeSend);
            assert_eq!((compaction(&plan).strategy, compaction(&plan).covers), (Strategy::Emergency, 20));
            assert_eq!(plan.tail, ids(21..=26));
            assert!(plan.summary_requests().is_empty());
            let notice = "[Earlier conversation history was dropped to stay within the context window. Ask the \
                          user if something you need is missing.]";
            assert_eq!(local_text(&plan), notice);
            assert_eq!(plan.request.system.as_deref(), Some("Be brief."));
            let texts: Vec<&str> = plan.request.messages.iter().map(RequestMessage::text).collect();
            assert_eq!(
                texts,
                [QUESTION, &framed(notice), "Which tests fail?", "", "two of nine", "Two.", "Mend them."]
            );
            rules::check_shape(&plan.request).unwrap();
        }

        /// "Always succeeds regardless of session size."
        #[test]
        fn succeeds_far_over_the_budget() {
            let conversation = session();
            let plan = plan_at(&conversation, &filled_to(&conversation, 300), &SVEN, Moment::BeforeSend);
            assert_eq!(compaction(&plan).strategy, Strategy::Emergency);
            assert!(plan.request_estimate.upper <= plan.budget.unwrap().hard);
            assert_eq!(plan.tail.last(), Some(&"m26".into()));
        }

        #[test]
        fn can_be_turned_off() {
            let conversation = session();
            let policy = set(&SVEN, &["emergency=off"]);
            let plan = plan_at(&conversation, &filled_to(&conversation, 96), &policy, Moment::BeforeSend);
            assert_eq!(compaction(&plan).strategy, Strategy::Structured);
        }
    }
}

mod layer_3_compaction_strategies {
    use super::*;
    use oneclaw_context::summary::gate::{Accepted, Rejection};

    /// The document's list.
    const SECTIONS: [&str; 6] = [
        "## Active Task",
        "## Key Decisions & Rationale",
        "## Files & Artifacts",
        "## Constraints & Requirements",
        "## Pending Items",
        "## Session Narrative",
    ];

    fn summary(sections: &[&str]) -> String {
        sections.iter().map(|s| format!("{s}\nNone\n")).collect()
    }

    /// What becomes of a summary of the session.
    fn judged(conversation: &Conversation, policy: &Policy, text: &str) -> Result<Accepted, Rejection> {
        let plan = plan_at(conversation, &filled_to(conversation, 85), policy, Moment::BeforeSend);
        oneclaw_tests::gate(&plan).accept(&finished(text))
    }

    /// "Structured (default)": "exactly six Markdown sections".
    #[test]
    fn the_structured_prompt_asks_for_exactly_the_six_sections() {
        let conversation = session();
        let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
        let system = summary_request(&plan).system.unwrap();
        let headings: Vec<&str> = system.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings, SECTIONS);
        assert!(system.contains("exactly these six Markdown sections, in this order, with no other heading"));
    }

    /// "File paths, function names, error messages, code snippets, test names — are preserved verbatim".
    #[test]
    fn the_structured_prompt_asks_for_technical_details_verbatim() {
        let conversation = session();
        let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::BeforeSend);
        let system = summary_request(&plan).system.unwrap();
        for detail in ["file paths", "function names", "error messages", "code snippets", "test names"] {
            assert!(system.contains(detail), "{detail}");
        }
    }

    #[test]
    fn a_summary_of_the_six_sections_is_accepted() {
        let text = summary(&SECTIONS);
        let expected = Accepted { text: text.trim_end().into(), facts_added: 0, facts_dropped: 0 };
        assert_eq!(judged(&session(), &SVEN, &text), Ok(expected));
    }

    /// Deeper headings and code are inside a section.
    #[test]
    fn what_is_inside_a_section_is_free() {
        let text =
            summary(&SECTIONS).replace("Artifacts\nNone", "Artifacts\n### Rust\n```\n## Not a section\n```");
        assert!(judged(&session(), &SVEN, &text).is_ok());
    }

    /// "The model is not allowed to add or remove sections."
    #[test]
    fn added_missing_swapped_or_renamed_sections_are_rejected() {
        let mut swapped = SECTIONS;
        swapped.swap(1, 2);
        let renamed = summary(&SECTIONS).replace("## Pending Items", "## Open Items");
        let faulty = [
            summary(&SECTIONS[..5]),
            summary(&SECTIONS[1..]),
            summary(&[&SECTIONS[..], &["## Thanks"]].concat()),
            summary(&[&SECTIONS[..], &SECTIONS[5..]].concat()),
            summary(&swapped),
            format!("# Summary\n{}", summary(&SECTIONS)),
            renamed,
            "We worked on the parser.".to_owned(),
        ];
        for text in faulty {
            assert_eq!(judged(&session(), &SVEN, &text), Err(Rejection::WrongSections), "{text}");
        }
    }

    /// The document trusts the model with the details; here those it forgot are added.
    #[test]
    fn forgotten_technical_details_are_added() {
        let chat = Chat::new().user("Look into src/compact.rs first.").reply("I will.");
        let chat = (0..12).fold(chat, |chat, n| chat.user(words(50 + n)).reply(words(60 + n)));
        let text = summary(&SECTIONS);
        let expected = Accepted {
            text: format!("{}\n\nFacts stated by the user:\n- src/compact.rs", text.trim_end()),
            facts_added: 1,
            facts_dropped: 0,
        };
        assert_eq!(judged(&chat.conversation(), &SVEN, &text), Ok(expected));
    }

    /// "Narrative": "a free-form prose summary".
    #[test]
    fn narrative_asks_for_prose_and_takes_it() {
        let conversation = session();
        let policy = set(&SVEN, &["style=narrative"]);
        let plan = plan_at(&conversation, &filled_to(&conversation, 85), &policy, Moment::BeforeSend);
        assert_eq!(compaction(&plan).strategy, Strategy::Narrative);
        let system = summary_request(&plan).system.unwrap();
        assert!(system.contains("free narrative") && !system.contains("## "), "{system}");
        let text = "We worked on the parser.";
        let expected = Accepted { text: text.into(), facts_added: 0, facts_dropped: 0 };
        assert_eq!(judged(&conversation, &policy, text), Ok(expected));
    }
}

mod layer_4_smart_tool_result_truncation {
    use super::*;
    use oneclaw_context::truncate::{SHAPED_CAP_TOKENS, Shape, shaped, utf16_len};

    const SHAPES: [Shape; 4] = [Shape::HeadTail, Shape::MatchList, Shape::FileContent, Shape::Generic];
    const HINT: &str = "[... use read_file with offset/limit to see more ...]";

    /// Lines of so many bytes, each with its number.
    fn lines(count: usize, bytes: usize) -> String {
        (0..count).map(|n| format!("{n:04} {}\n", "x".repeat(bytes - 6))).collect()
    }

    /// "`tool_result_token_cap` (default 4000 tokens)", "the same `chars / 4` approximation".
    #[test]
    fn the_cap_is_four_thousand_times_four_characters() {
        assert_eq!((SVEN.result_cap, SVEN.result_tokens), (ResultCap::Shaped, SHAPED_CAP_TOKENS as u64));
        for shape in SHAPES {
            let fits = lines(160, 100);
            assert_eq!(shaped(&fits, shape, 4_000), fits);
            let over = format!("{fits}y");
            let cut = shaped(&over, shape, 4_000);
            assert!(utf16_len(&cut) <= 16_000 && cut.contains(" bytes omitted ...]"), "{shape:?}");
        }
    }

    /// `HeadTail`: "keep first 60 + last 40 lines". The omission is that of the document's example.
    #[test]
    fn head_tail_keeps_sixty_and_forty_lines() {
        let (head, tail) = (lines(60, 10), lines(40, 20));
        let middle = lines(28, 437) + &lines(14, 436);
        let cut = shaped(&format!("{head}{middle}{tail}"), Shape::HeadTail, 4_000).into_owned();
        assert_eq!(cut, format!("{head}[... 42 lines / 18340 bytes omitted ...]\n{tail}"));
    }

    /// The document does not say what happens when 100 lines are over the cap; the specification: 60/40 by characters.
    #[test]
    fn head_tail_over_the_cap_goes_by_characters_to_the_edges_of_lines() {
        let text = lines(200, 1_000);
        let cut = shaped(&text, Shape::HeadTail, 4_000).into_owned();
        // 16,000 less the longest notice of 42 and two line breaks: 15,956 = 9,573 + 6,383, in whole lines of 1,000.
        let (head, tail) = (&text[..9_000], &text[200_000 - 6_000..]);
        assert_eq!(cut, format!("{head}[... 185 lines / 185000 bytes omitted ...]\n{tail}"));
    }

    /// `MatchList`: "keep leading matches only".
    #[test]
    fn match_list_keeps_the_leading_matches() {
        let text = lines(1_000, 100);
        let cut = shaped(&text, Shape::MatchList, 4_000).into_owned();
        assert_eq!(cut, format!("{}[... 841 lines / 84100 bytes omitted ...]", lines(159, 100)));
    }

    /// `FileContent`: "balanced head + tail split", with both lines of the document's notice.
    #[test]
    fn file_content_keeps_head_and_tail_in_balance() {
        let text = lines(1_000, 100);
        let cut = shaped(&text, Shape::FileContent, 4_000).into_owned();
        let notice = format!("[... 842 lines / 84200 bytes omitted ...]\n{HINT}\n");
        assert_eq!(cut, format!("{}{notice}{}", &text[..7_900], &text[92_100..]));
    }

    /// The document's notice, character for character; it stands at the cut, where the document has it at the end.
    #[test]
    fn the_notice_of_the_document() {
        let ends = lines(18, 437);
        let middle = lines(28, 437) + &lines(14, 436);
        let cut = shaped(&format!("{ends}{middle}{ends}"), Shape::FileContent, 4_000).into_owned();
        let notice = "[... 42 lines / 18340 bytes omitted ...]\n\
                      [... use read_file with offset/limit to see more ...]\n";
        assert_eq!(cut, format!("{ends}{notice}{ends}"));
    }

    /// `Generic`: "hard-truncate at the nearest line boundary".
    #[test]
    fn generic_is_cut_at_a_line_edge() {
        let text = lines(50, 900);
        let cut = shaped(&text, Shape::Generic, 4_000).into_owned();
        assert_eq!(cut, format!("{}[... 33 lines / 29700 bytes omitted ...]", lines(17, 900)));
    }

    /// Not in the document: minified files have no line edge, so the line is cut inside.
    #[test]
    fn one_line_over_the_cap_is_cut_inside() {
        let line = "0123456789".repeat(2_000);
        let longest = "[... 1 lines / 20000 bytes omitted ...]".len();
        for shape in [Shape::MatchList, Shape::Generic] {
            let kept = 16_000 - longest - 1;
            let expected = format!("{}\n[... 0 lines / {} bytes omitted ...]", &line[..kept], 20_000 - kept);
            assert_eq!(shaped(&line, shape, 4_000), expected);
        }
        for shape in [Shape::HeadTail, Shape::FileContent] {
            let cut = shaped(&line, shape, 4_000).into_owned();
            assert!(cut.starts_with(&line[..1_000]) && cut.ends_with(&line[19_000..]), "{shape:?}");
        }
    }

    /// "`tool_result_token_cap`: tighter cap if build logs are large".
    #[test]
    fn a_tighter_cap_keeps_less() {
        let text = lines(1_000, 100);
        let cap = set(&SVEN, &["result_tokens=2000"]).result_tokens as usize;
        let cut = shaped(&text, Shape::MatchList, cap).into_owned();
        assert_eq!(cut, format!("{}[... 921 lines / 92100 bytes omitted ...]", lines(79, 100)));
    }
}

mod split_safety_for_tool_call_result_pairs {
    use super::*;
    use oneclaw_context::groups::{Kind, groups};

    /// A batch of two calls in the rows m22 (text), m23 … m26, after a question in m21; then so many rows more.
    fn batch_then(rows: usize) -> Conversation {
        let batch = talk(10, 50).user("Run both.").reply("I run both.");
        let first = batch.call("c1", "shell", "{}").result("c1", "shell", "one");
        let both = first.call("c2", "shell", "{}").result("c2", "shell", "two");
        let rest = |chat: Chat, n| if n % 2 == 0 { chat.reply("done") } else { chat.user("next") };
        (0..rows).fold(both, rest).conversation()
    }

    /// The row the tail begins with, as sven's loop finds it: `while` the row is a call or a result, one back.
    fn tail_start(conversation: &Conversation) -> Option<String> {
        let plan = plan_at(conversation, &filled_to(conversation, 85), &SVEN, Moment::AfterTools);
        rules::check_shape(&plan.request).unwrap();
        plan.boundary.map(|id| id.as_str().to_owned())
    }

    /// The raw split is six rows before the end; on each row of the batch it walks back to the batch's text.
    #[test]
    fn the_split_walks_back_to_the_start_of_the_batch() {
        let starts: Vec<_> = (0..=7).filter_map(|rows| tail_start(&batch_then(rows))).collect();
        assert_eq!(starts, ["m21", "m22", "m22", "m22", "m22", "m22", "m27", "m28"]);
    }

    /// "The split always lands on a user message or an assistant-text message — never mid-batch."
    #[test]
    fn the_split_lands_on_a_user_message_or_a_reply() {
        let chat = talk(20, 50).user("Find it.").batch("a", "grep", "none").batch("b", "grep", "one");
        let conversation = chat.batch("c", "shell", "built").reply("Done.").user("And now?").conversation();
        let model = filled_to(&conversation, 85);
        for keep in 1..=16 {
            let policy = set(&SVEN, &[&format!("tail_messages={keep}")]);
            let plan = plan_at(&conversation, &model, &policy, Moment::BeforeSend);
            let covers = compaction(&plan).covers;
            let starts = groups(&conversation.rows).into_iter().map(|g| (g.kind, g.rows.start));
            let kind = starts.into_iter().find_map(|(kind, start)| (start == covers).then_some(kind));
            assert!(matches!(kind, Some(Kind::User | Kind::Exchange)), "{keep}: {covers}");
            // Backward: never fewer than asked for.
            assert!(plan.tail.len() >= keep, "{keep}: {}", plan.tail.len());
            rules::check_shape(&plan.request).unwrap();
        }
    }

    /// A batch that is older than the whole tail is covered, calls and results together.
    #[test]
    fn a_batch_is_covered_whole_or_not_at_all() {
        let conversation = batch_then(6);
        let plan = plan_at(&conversation, &filled_to(&conversation, 85), &SVEN, Moment::AfterTools);
        let text = summary_request(&plan).messages[0].text().to_owned();
        assert_eq!(text.matches("**Tool call:** shell").count(), 2);
        assert_eq!(text.matches("**Tool result:** shell").count(), 2);
        assert!(!plan.request.messages.iter().any(|m| m.role() == "tool"));
    }
}

mod configuration_reference {
    use super::*;

    /// An input budget of 100,000.
    fn trigger(policy: &Policy) -> u64 {
        Budget::of(&limits(108_000, 8_000), policy).unwrap().trigger
    }

    /// The table of defaults; pruning is not a feature of the document.
    #[test]
    fn the_defaults_of_the_table() {
        assert_eq!(SVEN.threshold, Ratio::percent(85));
        assert_eq!((SVEN.tail, SVEN.tail_messages), (Tail::Messages, 6));
        assert_eq!(SVEN.style, Style::Structured);
        assert_eq!((SVEN.result_cap, SVEN.result_tokens), (ResultCap::Shaped, 4_000));
        assert_eq!(SVEN.overhead_reserve, Ratio::percent(10));
        assert_eq!(SVEN.emergency, Some(Ratio::percent(95)));
        assert_eq!(SVEN.pruning, Pruning::Off);
    }

    /// "Tuning for CI / long-running workflows": 0.65 − 0.12 = 0.53.
    #[test]
    fn tuning_for_long_running_workflows() {
        let knobs = [
            "threshold=0.65",
            "tail_messages=15",
            "style=structured",
            "result_tokens=2000",
            "overhead_reserve=0.12",
        ];
        let expected = Policy {
            threshold: Ratio::percent(65),
            tail_messages: 15,
            style: Style::Structured,
            result_tokens: 2_000,
            overhead_reserve: Ratio::percent(12),
            ..SVEN
        };
        let policy = set(&SVEN, &knobs);
        assert_eq!(policy, expected);
        assert_eq!(trigger(&policy), 52_999);

        let conversation = talk(30, 50).user("Next.").conversation();
        let model = filled_to(&conversation, 60);
        assert_eq!(sent(&plan_at(&conversation, &model, &SVEN, Moment::BeforeSend)), SendReason::Fits);
        let plan = plan_at(&conversation, &model, &policy, Moment::BeforeSend);
        assert_eq!((compaction(&plan).strategy, plan.tail), (Strategy::Structured, ids(47..=61)));
    }

    /// "Tuning for interactive sessions": 0.80 − 0.10 = 0.70.
    #[test]
    fn tuning_for_interactive_sessions() {
        let knobs = ["threshold=0.80", "tail_messages=5", "style=narrative", "result_tokens=8000"];
        let expected = Policy {
            threshold: Ratio::percent(80),
            tail_messages: 5,
            style: Style::Narrative,
            result_tokens: 8_000,
            ..SVEN
        };
        let policy = set(&SVEN, &knobs);
        assert_eq!(policy, expected);
        assert_eq!(trigger(&policy), 69_999);

        let conversation = talk(30, 50).user("Next.").conversation();
        let model = filled_to(&conversation, 72);
        let plan = plan_at(&conversation, &model, &policy, Moment::BeforeSend);
        assert_eq!((compaction(&plan).strategy, plan.tail), (Strategy::Narrative, ids(57..=61)));
    }
}
