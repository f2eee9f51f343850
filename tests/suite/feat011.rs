//! FEAT-011 "Auto Compact & Tool Result Truncation", in the order of the document, with its own numbers.
//!
//! Where the specification departs from the document, the specification's behaviour is tested and a comment says what
//! the document said. Elsewhere, as they are no part of the context engine:
//! * User Interaction Flow, UI/UX Requirements (indicator, Snackbar, input not blocked): the app and the agent's events.
//! * "Stored in Session.compactedSummary", "unchanged in DB", "full content is never stored": the store. Here: rows in,
//!   rows out, unchanged.
//! * "Never mid-stream", "same model, provider, and API key", the retry's second call, logging, "compact triggered while
//!   compact is already in progress": the agent.
//! * Which texts are truncated when (all tools, error texts too): the agent. Here: how.
//! * Performance (15 s, 10 ms, 5 ms, 1 MB+): benchmarks and the agent's injected clock. Here: that such sizes work.
//! * Resetting the summary (future): the store's epochs.
//!
//! Acceptance Criteria and Functional Tests of the document name rules that its other sections explain; each is tested
//! in the section that explains it, or in the module `acceptance_criteria`.

use super::rfc011::{
    after_response, assistant, compaction, ids, is_compact, judged, limits, only_text, over_the_trigger,
    tariff, text_of, turns, user,
};
use oneclaw_context::estimate::EstimatorState;
use oneclaw_context::plan::Summaries;
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::{Conversation, Inputs, Moment, Plan, plan};
use oneclaw_model::{ModelLimits, PresetModel};

/// The limits of a preset model.
fn preset(id: &str) -> ModelLimits {
    let model = PresetModel::find(id).unwrap();
    ModelLimits { window: Some(model.window), input_limit: None, max_output: Some(model.max_output) }
}

/// The plan after the summary request failed twice.
fn after_double_failure(conversation: &Conversation, limits: &ModelLimits, moment: Moment) -> Plan {
    let state = EstimatorState::default();
    let asked = Inputs::new(conversation, limits, &ONECLAW, &state, moment);
    plan(&Inputs { summaries: Summaries::Failed, ..asked })
}

/// The text that takes the place of what a plan covers, where no model writes it.
fn local_text(plan: &Plan) -> &str {
    match &compaction(plan).work {
        oneclaw_context::plan::Work::Local(text) => text,
        oneclaw_context::plan::Work::Summarise(_) => panic!("a model would be asked"),
    }
}

/// FEAT-011, User Story, "Typical Scenarios".
mod typical_scenarios {
    use super::{compaction, is_compact, judged, preset, turns};
    use oneclaw_context::plan::{Reason, SendReason};
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_context::truncate::{HEAD_CAP_UNITS, head, utf16_len};
    use oneclaw_context::{Decision, Moment};
    use oneclaw_model::{ModelId, ModelLimits};
    use oneclaw_tests::{Chat, plan_at, rules, window, words};

    /// Scenario 1: 50+ messages, "compresses older messages into a summary before the next request".
    #[test]
    fn a_long_conversation_is_summarised_and_continues() {
        let limits = preset("gpt-4o");
        let chat = turns(Chat::new().model("gpt-4o").system("Be kind."), 30, 2_110).user("And what now?");
        let conversation = chat.conversation();
        assert!(conversation.rows.len() > 50);
        let plan = plan_at(&conversation, &limits, &ONECLAW, Moment::BeforeSend);
        assert_eq!(compaction(&plan).reason, Reason::Threshold);
        let summary = judged(&plan, "They asked thirty questions.").unwrap().text;
        let next = plan.carry_out(conversation.clone(), &summary);
        let sent = plan_at(&next, &limits, &ONECLAW, Moment::BeforeSend);
        assert!(matches!(sent.decision, Decision::Send(SendReason::Fits)));
        assert!(sent.request_estimate.upper <= 64_000, "at most half of the window");
        rules::check_shape(&sent.request).unwrap();
        rules::check_newest_user(&conversation, &sent.request).unwrap();
    }

    /// Scenario 2: "a large web page (hundreds of KB) … truncated to a reasonable size".
    #[test]
    fn a_large_page_is_cut_before_it_is_stored_and_the_turn_goes_on() {
        let page = "<li><a href=\"/item\">An item of the list</a></li>\n".repeat(8_000);
        assert!(page.len() > 300_000);
        let stored = head(&page, HEAD_CAP_UNITS).into_owned();
        assert!(utf16_len(&stored) < 30_100);
        let chat = Chat::new().user("What is on that page?").batch("c1", "http_request", stored);
        let plan = plan_at(&chat.conversation(), &window(32_000), &ONECLAW, Moment::AfterTools);
        assert!(matches!(plan.decision, Decision::Send(SendReason::Fits)), "{:?}", plan.decision);
    }

    /// Scenario 3: "switches from a model with a 200K context window to a model with an 8K context window mid-session".
    #[test]
    fn a_switch_from_200k_to_8k_compacts_before_the_next_send() {
        let large = "claude-opus-4-5-20251101";
        let chat = (1..=60).fold(Chat::new().model(large).system("Be kind."), |chat, n| {
            chat.user(format!("Question {n}: {}", words(500))).signed_reply(large, &words(500), "Hm.")
        });
        let mut conversation = chat.user("The same question to you.").conversation();
        let before = plan_at(&conversation, &preset(large), &ONECLAW, Moment::BeforeSend);
        assert!(matches!(before.decision, Decision::Send(SendReason::Fits)), "{:?}", before.estimate);
        assert!(before.estimate.upper > 90_000);

        let small = ModelLimits { window: Some(8_000), input_limit: None, max_output: None };
        conversation.model = Some(ModelId("small-8k".into()));
        let plan = plan_at(&conversation, &small, &ONECLAW, Moment::BeforeSend);
        assert_eq!(compaction(&plan).reason, Reason::ModelSwitch);
        let requests = plan.summary_requests();
        assert!(requests.len() > 10);
        assert!(
            requests.iter().all(|r| r.upper <= 6_000),
            "no summary request is too long for the new model"
        );

        let summary = judged(&plan, "They asked sixty questions.").unwrap().text;
        let next = plan.carry_out(conversation.clone(), &summary);
        let sent = plan_at(&next, &small, &ONECLAW, Moment::BeforeSend);
        assert!(matches!(sent.decision, Decision::Send(SendReason::Fits)));
        assert!(sent.request_estimate.upper <= 4_000, "at most half of the window");
        rules::check_shape(&sent.request).unwrap();
        rules::check_newest_user(&conversation, &sent.request).unwrap();
    }

    /// The same when the new model's own summary calls fail: the user still can go on.
    #[test]
    fn a_switch_to_8k_works_without_any_summary() {
        let conversation = turns(Chat::new(), 60, 800).user("The same question to you.").conversation();
        let small = window(8_000);
        let plan = super::after_double_failure(&conversation, &small, Moment::BeforeSend);
        assert!(plan.request_estimate.upper <= 6_000);
        let next = plan.carry_out(conversation.clone(), super::local_text(&plan));
        assert!(!is_compact(&plan_at(&next, &small, &ONECLAW, Moment::BeforeSend)));
        rules::check_newest_user(&conversation, &plan.request).unwrap();
    }
}

/// FEAT-011, Detailed Description, "Auto Compact".
mod auto_compact {
    use super::{
        after_response, compaction, ids, is_compact, judged, limits, only_text, over_the_trigger, turns,
    };
    use oneclaw_context::plan::SendReason;
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_context::{Decision, Moment};
    use oneclaw_model::Usage;
    use oneclaw_tests::{Chat, generate, plan_at};

    /// "Trigger: … exceeds 85% of the current model's context window size", for the windows of both documents. Where
    /// more than 15 % are kept for the reply, the specification's hard limit comes first (168,000).
    #[test]
    fn trigger_each_preset_model_fires_one_token_above_its_own_edge() {
        for (model, trigger) in [
            ("gpt-4o", 108_800),
            ("gpt-4o-mini", 108_800),
            ("gpt-4-turbo", 108_800),
            ("o1", 168_000),
            ("o3-mini", 168_000),
            ("claude-opus-4-5-20251101", 168_000),
            ("claude-sonnet-4-5-20250929", 168_000),
            ("claude-haiku-4-5-20251001", 168_000),
            ("claude-sonnet-4-20250514", 168_000),
            ("claude-haiku-3-5-20241022", 170_000),
            ("claude-opus-4-20250514", 168_000),
            ("gemini-2.0-flash", 891_289),
            ("gemini-2.5-pro", 891_289),
            ("gemini-2.5-pro-preview-05-06", 891_289),
        ] {
            let at = |input: u64| {
                let reported = Usage { input, ..Usage::default() };
                let chat = turns(Chat::new().model(model), 12, 320).user("Next?");
                after_response(&chat.reply_with_usage("Yes.", reported).conversation(), &super::preset(model))
            };
            let plan = at(trigger);
            assert_eq!(plan.estimate.upper, trigger);
            assert!(matches!(plan.decision, Decision::Send(SendReason::Fits)), "{model}");
            assert!(is_compact(&at(trigger + 1)), "{model}");
        }
    }

    /// Process 1 and 2: "Messages whose cumulative tokens fit within 25% of the context window are protected", "all
    /// older messages are candidates".
    #[test]
    fn process_what_fits_within_25_percent_is_protected_and_the_rest_is_not() {
        let conversation = over_the_trigger().conversation();
        let plan = after_response(&conversation, &limits(10_000));
        let covers = compaction(&plan).covers;
        let tariff = super::tariff(&conversation);
        let size =
            |from: usize| tariff.upper(conversation.rows[from..].iter().map(|row| row.cost(&tariff)).sum());
        assert!(size(covers) <= 2_500, "{}", size(covers));
        assert!(size(covers - 2) > 2_500, "one turn more would be too much: {}", size(covers - 2));
        assert_eq!(plan.tail, ids(covers + 1, 24));
    }

    /// Process 3: "with the candidate messages (plus any existing prior summary)".
    #[test]
    fn process_the_request_holds_the_candidates_and_the_prior_summary() {
        let prior = "They had met before.";
        let first = Chat::new().user("Hello.").reply("Hello!");
        let conversation = turns(first, 12, 345).conversation().compacted_by_time(3_000, prior.into());
        let plan = after_response(&conversation, &limits(10_000));
        let requests = plan.summary_requests();
        let text = only_text(&requests[0].request);
        assert_eq!(requests.len(), 1);
        assert_eq!(text.matches(prior).count(), 1);
        let covered = compaction(&plan).covers / 2;
        let asked: Vec<usize> = (1..=12).filter(|n| text.contains(&format!("Question {n}:"))).collect();
        assert_eq!(asked, (1..=covered).collect::<Vec<_>>());
    }

    /// Process 5: "storing the timestamp or message ID of the compaction boundary": the specification takes the id, as
    /// equal timestamps happen.
    #[test]
    fn process_the_boundary_is_a_message_even_if_all_timestamps_are_equal() {
        let spread = over_the_trigger().conversation();
        let mut equal = spread.clone();
        equal.rows.iter_mut().for_each(|row| row.message.created_at = 1_000);
        let [by_time, by_id] = [&spread, &equal].map(|c| after_response(c, &limits(10_000)));
        assert_eq!((by_time.boundary, by_time.tail), (by_id.boundary.clone(), by_id.tail.clone()));
        let after = by_id.carry_out(equal, "They talked.");
        assert_eq!(after.rows.first().map(|row| &row.message.id), by_id.boundary.as_ref());
        assert_eq!(after.rows.len(), by_id.tail.len());
    }

    /// "Subsequent requests: … the compactedSummary as a system-level context message, followed by only the
    /// non-compacted (recent) messages." The document puts the summary first; the specification after the prompt.
    #[test]
    fn subsequent_requests_are_the_summary_and_the_recent_messages_only() {
        let conversation = over_the_trigger().system("Be kind.").conversation();
        let plan = after_response(&conversation, &limits(10_000));
        let covers = compaction(&plan).covers;
        let summary = judged(&plan, "They talked.").unwrap().text;
        let next = plan.carry_out(conversation.clone(), &summary);
        let sent = plan_at(&next, &limits(10_000), &ONECLAW, Moment::BeforeSend).request;
        let system =
            format!("Be kind.\n\n---\n\nPrevious conversation summary:\n{}", oneclaw_tests::framed(&summary));
        assert_eq!(sent.system, Some(system));
        let uncompacted = plan_at(&conversation, &limits(1_000_000), &ONECLAW, Moment::BeforeSend).request;
        assert_eq!(sent.messages, uncompacted.messages[covers..]);
        assert_eq!(plan.request.messages, sent.messages, "the plan announced what followed");
    }

    /// "Multiple compactions: … into a single merged summary. The Session always holds exactly one cumulative summary."
    #[test]
    fn multiple_compactions_merge_into_one_summary() {
        let limits = limits(10_000);
        let whole = turns(Chat::new(), 36, 345).conversation();
        let mut conversation = whole.clone();
        conversation.rows.clear();
        let mut summary: Option<String> = None;
        for (round, rows) in whole.rows.chunks(24).enumerate() {
            conversation = generate::extended(conversation, rows.to_vec());
            let plan = after_response(&conversation, &limits);
            let requests: String =
                plan.summary_requests().iter().map(|r| only_text(&r.request).to_owned()).collect();
            assert_eq!(requests.matches("Merged after round").count(), usize::from(summary.is_some()));
            if let Some(earlier) = &summary {
                assert_eq!(requests.matches(earlier).count(), 1);
                assert_eq!(oneclaw_tests::gate(&plan).prior.as_ref(), Some(earlier));
            }
            let text = format!("Merged after round {round}.");
            let text = judged(&plan, &text).unwrap().text;
            conversation = plan.carry_out(conversation, &text);
            summary = Some(text);
            let sent = plan_at(&conversation, &limits, &ONECLAW, Moment::BeforeSend).request;
            assert_eq!(sent.system.unwrap().matches("Merged after round").count(), 1);
        }
        assert_eq!(summary.as_deref(), Some("Merged after round 2."));
    }

    /// A merged summary that lost the earlier one is refused: nothing the user said gets lost in round two.
    #[test]
    fn a_summary_that_forgot_the_prior_one_is_refused() {
        let prior =
            "Magdalena travels through Portugal, prefers trains, avoids airports, carries museum tickets.";
        let first = Chat::new().user("Hello.").reply("Hello!");
        let conversation = turns(first, 12, 345).conversation().compacted_by_time(3_000, prior.into());
        let plan = after_response(&conversation, &limits(10_000));
        let lost = judged(&plan, "Twelve questions about rivers.");
        assert_eq!(lost, Err(oneclaw_context::summary::gate::Rejection::LostPrior));
        let kept = format!("{prior} Then twelve questions about rivers.");
        assert_eq!(judged(&plan, &kept).unwrap().text, kept);
    }
}

/// FEAT-011, Detailed Description, "Tool Result Truncation", and Business Rules, "Tool Result Truncation Rules".
mod tool_result_truncation {
    use oneclaw_context::truncate::{HEAD_CAP_UNITS, head, utf16_len};

    /// Rule 1, and Error Scenario 5 "content is exactly at limit: store as-is".
    #[test]
    fn the_limit_is_30_000_characters_and_exactly_the_limit_is_stored_as_is() {
        for result in ["a".repeat(30_000), "ß".repeat(30_000), "語".repeat(30_000), "🙂".repeat(15_000)] {
            assert_eq!(utf16_len(&result), 30_000);
            assert_eq!(head(&result, HEAD_CAP_UNITS), result);
        }
    }

    #[test]
    fn results_under_30k_are_not_modified() {
        for result in ["", "ok", "line\r\n\u{0}\u{7f}line\n\n", &"x".repeat(29_999)] {
            assert_eq!(head(result, HEAD_CAP_UNITS), result);
        }
    }

    /// Rules 2 and 3. The document's marker is `showing first {kept} characters of {total} total`; the specification
    /// takes the wording of RFC-011.
    #[test]
    fn the_head_is_kept_the_tail_discarded_and_a_marker_appended() {
        let head_part = "H".repeat(30_000);
        assert_eq!(
            head(&(head_part.clone() + &"T".repeat(70_000)), HEAD_CAP_UNITS),
            head_part + "\n\n[... content truncated, showing first 30000 of 100000 characters ...]"
        );
    }

    /// Edge case "Tool result with multi-byte Unicode characters".
    #[test]
    fn multi_byte_characters_count_as_characters_and_stay_whole() {
        let mixed = "aß語🙂".repeat(10_000);
        let result = head(&mixed, HEAD_CAP_UNITS).into_owned();
        let kept = "aß語🙂".repeat(6_000);
        assert_eq!(utf16_len(&kept), 30_000);
        assert_eq!(result, kept + "\n\n[... content truncated, showing first 30000 of 50000 characters ...]");
    }

    /// "The truncation happens once at storage time."
    #[test]
    fn a_truncated_result_is_not_truncated_again() {
        let once = head(&"row\n".repeat(20_000), HEAD_CAP_UNITS).into_owned();
        assert_eq!(head(&once, HEAD_CAP_UNITS), once);
    }

    /// Performance Tests: "1MB+ content"; Reliability: "must never throw an exception".
    #[test]
    fn more_than_a_megabyte_of_anything_is_cut_to_the_limit() {
        for piece in ["x", "語", "🙂", "\n", "e\u{301}", "\u{200d}"] {
            let total = 1_100_000 / utf16_len(piece) * utf16_len(piece);
            let result = head(&piece.repeat(1_100_000 / utf16_len(piece)), HEAD_CAP_UNITS).into_owned();
            let marker =
                format!("\n\n[... content truncated, showing first 30000 of {total} characters ...]");
            assert_eq!(result, piece.repeat(30_000 / utf16_len(piece)) + &marker, "{piece:?}");
        }
    }
}

/// FEAT-011, Acceptance Criteria, those that no other section explains.
mod acceptance_criteria {
    use super::{
        after_double_failure, after_response, compaction, is_compact, limits, over_the_trigger, turns,
    };
    use oneclaw_context::Moment;
    use oneclaw_context::plan::Reason;
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_tests::{Chat, plan_at};

    /// "Original messages are never modified or deleted by compact"; Data Integrity says it again.
    #[test]
    fn original_messages_are_never_modified() {
        let original = over_the_trigger().conversation();
        let conversation = original.clone();
        let plan = after_response(&conversation, &limits(10_000));
        let fallback = after_double_failure(&conversation, &limits(10_000), Moment::AfterResponse);
        assert_eq!(conversation, original);
        for plan in [plan, fallback] {
            let after = plan.carry_out(conversation.clone(), "They talked.");
            assert_eq!(after.rows, original.rows[original.rows.len() - after.rows.len()..]);
            assert_eq!(after.fixed, original.fixed);
        }
    }

    /// "The 85% threshold is defined as a constant (not hardcoded inline)"; optional: "Configurable threshold".
    #[test]
    fn the_threshold_is_one_field_of_the_policy() {
        let conversation = over_the_trigger().conversation();
        for (threshold, fires) in [("0.85", true), ("0.9", false), ("0.5", true)] {
            let policy = ONECLAW.with(&format!("threshold={threshold}")).unwrap();
            let plan = plan_at(&conversation, &limits(10_000), &policy, Moment::AfterResponse);
            assert_eq!(is_compact(&plan), fires, "{threshold}");
        }
    }

    /// Optional: "User can manually trigger compact from the UI".
    #[test]
    fn a_manual_compaction_needs_no_trigger() {
        let conversation = turns(Chat::new(), 8, 345).conversation();
        let plan = after_response(&conversation, &limits(10_000));
        assert!(!is_compact(&plan) && plan.estimate.upper < 8_500);
        let manual = plan_at(&conversation, &limits(10_000), &ONECLAW, Moment::Manual);
        assert_eq!(compaction(&manual).reason, Reason::Manual);
        assert_eq!(manual.summary_requests().len(), 1);
    }
}

/// FEAT-011, Business Rules, "Compact Rules".
mod compact_rules {
    use super::{after_response, compaction, is_compact, judged, limits, over_the_trigger, text_of, turns};
    use oneclaw_context::plan::SendReason;
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_context::{Budget, Decision, Moment, Policy};
    use oneclaw_model::ModelLimits;
    use oneclaw_tests::{Chat, plan_at};

    /// Rule 1: "only after a complete API response". The specification also checks before a send and after tools; a
    /// policy that checks after the response alone is one of its knobs, and the hard limit holds even then.
    #[test]
    fn rule_1_the_documents_own_moment_can_be_had_and_the_hard_limit_is_always_kept() {
        let set = |policy: &Policy, knob: &str| policy.with(knob).unwrap();
        let policy = set(&set(&ONECLAW, "check_before_send=false"), "check_after_tools=false");
        let fires =
            |conversation: &_, moment| is_compact(&plan_at(conversation, &limits(10_000), &policy, moment));
        let moments = [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse];
        let over_the_trigger = over_the_trigger().conversation();
        let over_the_hard_limit = turns(Chat::new(), 16, 345).conversation();
        assert_eq!(moments.map(|m| fires(&over_the_trigger, m)), [false, false, true]);
        assert_eq!(moments.map(|m| fires(&over_the_hard_limit, m)), [true, true, true]);
    }

    /// Rule 2: "calculated against the current model's contextWindowSize".
    #[test]
    fn rule_2_the_same_conversation_fires_on_a_smaller_window_only() {
        let conversation = over_the_trigger().conversation();
        let fires = |window: u64| is_compact(&after_response(&conversation, &limits(window)));
        assert_eq!([8_000, 10_000, 11_000, 128_000].map(fires), [true, true, false, false]);
    }

    /// Rule 3: "If contextWindowSize is null (unknown), compact does not trigger (no-op)".
    #[test]
    fn rule_3_an_unknown_window_never_triggers() {
        let conversation = turns(Chat::new(), 100, 1_600).conversation();
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            let plan = plan_at(&conversation, &ModelLimits::default(), &ONECLAW, moment);
            assert!(matches!(plan.decision, Decision::Send(SendReason::WindowUnknown)));
            assert_eq!(plan.request.messages.len(), 200);
        }
    }

    /// Rule 4: "targets 25% of the context window by token count": the specification takes it as a maximum that gives
    /// way where a large prompt would leave the next request above half of the window.
    #[test]
    fn rule_4_the_protected_window_is_smaller_where_the_fixed_parts_are_large() {
        let tail = |prompt: u64| {
            let chat = turns(Chat::new().system(&text_of(prompt)), 20, 345);
            after_response(&chat.conversation(), &limits(10_000)).tail.len()
        };
        let tails = [20, 2_000, 3_000, 3_600].map(tail);
        assert!(tails.is_sorted_by(|a, b| a >= b), "{tails:?}");
        assert!(tails[0] >= 6 && tails[3] < tails[0], "{tails:?}");
    }

    /// Rule 6: "The summary prompt is a fixed system prompt".
    #[test]
    fn rule_6_the_system_prompt_of_a_summary_does_not_depend_on_the_conversation() {
        let conversations = [
            over_the_trigger().conversation(),
            turns(Chat::new().system("You are a pirate."), 40, 345).conversation(),
            turns(Chat::new().user("Hi.").reply("Hi!"), 12, 345)
                .conversation()
                .compacted_by_time(3_000, "S".into()),
        ];
        let prompts: Vec<Option<String>> = conversations
            .iter()
            .flat_map(|c| after_response(c, &limits(10_000)).summary_requests())
            .map(|r| r.request.system)
            .collect();
        assert!(prompts.len() > 3);
        assert!(prompts.iter().all(|prompt| prompt.is_some() && *prompt == prompts[0]));
    }

    /// Rule 7: "idempotent – triggering it when already under threshold is a no-op".
    #[test]
    fn rule_7_under_the_threshold_nothing_happens() {
        for count in 0..=11 {
            let conversation = turns(Chat::new(), count, 345).conversation();
            let plan = after_response(&conversation, &limits(10_000));
            assert!(plan.estimate.upper <= 8_500);
            assert!(matches!(plan.decision, Decision::Send(SendReason::Fits)), "{count}");
            assert_eq!(plan.carry_out(conversation.clone(), ""), conversation);
        }
    }

    /// Rule 7, the other way round: once compacted it is under the threshold, however long the summary turned out.
    #[test]
    fn rule_7_a_compaction_is_not_followed_by_another() {
        let conversation = over_the_trigger().conversation();
        let plan = after_response(&conversation, &limits(10_000));
        let budget = Budget::of(&limits(10_000), &ONECLAW).unwrap();
        for length in [1, 100, 300, 500] {
            let summary = judged(&plan, &oneclaw_tests::words(length)).unwrap().text;
            let next = plan.carry_out(conversation.clone(), &summary);
            for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
                let again = plan_at(&next, &limits(10_000), &ONECLAW, moment);
                assert!(matches!(again.decision, Decision::Send(SendReason::Fits)), "{length} {moment:?}");
                assert!(again.estimate.upper <= budget.target);
            }
        }
        assert!(compaction(&plan).covers > 0);
    }
}

/// FEAT-011, Business Rules, "Token Counting Rules".
mod token_counting_rules {
    use super::{after_response, limits, turns};
    use oneclaw_context::estimate::simple;
    use oneclaw_context::{Conversation, Moment};
    use oneclaw_model::{Body, Usage};
    use oneclaw_tests::{Chat, plan_at};

    fn upper(conversation: &Conversation) -> u64 {
        after_response(conversation, &limits(1_000_000)).estimate.upper
    }

    /// Rule 1: "Token counts come from API-reported Usage events stored on each message". They are a floor: what the
    /// provider counted is in the next request again, with the reply, but without reasoning that nobody sends back.
    #[test]
    fn rule_1_what_the_provider_reported_counts_and_all_its_parts_do() {
        let usage =
            Usage { input: 1_000, cache_read: 20_000, cache_write: 300, output: 4_000, reasoning: 3_000 };
        let conversation = Chat::new().user("Hi.").reply_with_usage("Hello!", usage).conversation();
        assert_eq!(upper(&conversation), 22_300);
    }

    #[test]
    fn rule_1_a_report_below_the_estimate_does_not_lower_it() {
        let silent = turns(Chat::new(), 4, 165).user("Hi.").reply("Hello!").conversation();
        let usage = Usage { input: 5, output: 1, ..Usage::default() };
        let reported =
            turns(Chat::new(), 4, 165).user("Hi.").reply_with_usage("Hello!", usage).conversation();
        assert_eq!(upper(&reported), upper(&silent));
    }

    /// A report speaks of its own model and of the conversation before a newer summary.
    #[test]
    fn rule_1_a_report_of_another_model_or_from_before_the_summary_says_nothing() {
        let reply = |model: &str| Body::Assistant {
            text: "Hello!".into(),
            thinking: None,
            trace: None,
            model: Some(model.into()),
            usage: Some(Usage { input: 50_000, ..Usage::default() }),
        };
        let chat = || Chat::new().model("gpt-4o").user("Hi.");
        assert_eq!(upper(&chat().row(reply("gpt-4o")).conversation()), 50_000);
        assert!(upper(&chat().row(reply("o1")).conversation()) < 100);
        let chat = Chat::new().model("gpt-4o").user("Hi.").reply("Hello!").user("Hi.").row(reply("gpt-4o"));
        let covered = chat.conversation().compacted_by_time(3_000, "They met.".into());
        assert!(upper(&covered) < 200);
    }

    /// Rule 2: "For messages without token counts, use a character-based estimate (1 token per 4 characters)". The
    /// specification decides on the upper estimate, which is never below that for ordinary text; the quarter is exact
    /// in `estimate::simple`.
    #[test]
    fn rule_2_a_message_without_a_count_is_estimated_on_top_of_the_last_report() {
        let usage = Usage { input: 40_000, output: 500, ..Usage::default() };
        let question = oneclaw_tests::words(400);
        let chat = Chat::new().user("Hi.").reply_with_usage("Hello!", usage).user(question.clone());
        let size = upper(&chat.conversation());
        assert!(size >= 40_500 + simple(&question), "{size}");
        assert!(size <= 40_500 + 2 * simple(&question), "{size}");
        assert_eq!(simple("12345678901234567890123"), 5);
    }

    /// Rule 3: "the sum of estimated input tokens for all messages that would be sent in the next API request": rows
    /// that are never sent count nothing.
    #[test]
    fn rule_3_what_is_not_sent_is_not_counted() {
        let sent = Chat::new().user("Hi.").reply("Hello!").user("How are you?");
        let long = oneclaw_tests::words(2_000);
        let with_more =
            Chat::new().error(&long).note(&long).user("Hi.").error(&long).reply("Hello!").note(&long);
        let with_more = with_more.user("How are you?").error(&long).conversation();
        let [plain, more] = [&sent.conversation(), &with_more]
            .map(|c| plan_at(c, &limits(10_000), &super::ONECLAW, Moment::BeforeSend));
        assert_eq!(more.estimate, plain.estimate);
        assert_eq!(more.request, plain.request);
    }

    /// Rule 3: prompt and tools are sent too, so they are counted.
    #[test]
    fn rule_3_prompt_and_tools_are_counted() {
        let bare = upper(&Chat::new().user("Hi.").conversation());
        let prompt = upper(&Chat::new().system(&oneclaw_tests::words(100)).user("Hi.").conversation());
        let tools = upper(&Chat::new().tool("read_file").user("Hi.").conversation());
        assert!(prompt > bare + 100 && tools > bare + 20, "{bare} {prompt} {tools}");
    }
}

/// FEAT-011, Business Rules, "Failure Handling Rules", and Error Handling, "Error Scenarios" 1 and 2.
mod failure_handling_rules {
    use super::{
        after_double_failure, after_response, compaction, is_compact, judged, limits, local_text,
        over_the_trigger, text_of, turns,
    };
    use oneclaw_context::plan::Strategy;
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_context::summary::gate::{Finish, Rejection, Reply};
    use oneclaw_context::{Decision, Moment};
    use oneclaw_model::ToolStatus;
    use oneclaw_tests::{Chat, plan_at, rules, words};

    /// Rule 1: "retry exactly once (same request)".
    #[test]
    fn rule_1_one_retry_of_the_same_request() {
        assert_eq!(ONECLAW.summary_retries, 1);
        let conversation = over_the_trigger().conversation();
        let requests = || after_response(&conversation, &limits(10_000)).summary_requests();
        assert_eq!(requests(), requests());
        assert!(!requests().is_empty());
    }

    /// Rule 2: "remove the oldest messages from the API request (but NOT from the database) until under the 85%
    /// threshold". The specification leaves a digest of them in their place.
    #[test]
    fn rule_2_the_oldest_messages_give_way_until_the_request_is_under_85_percent() {
        for count in [12, 16, 60, 300] {
            let conversation = turns(Chat::new(), count, 345).user("And now?").conversation();
            let plan = after_double_failure(&conversation, &limits(10_000), Moment::BeforeSend);
            assert_eq!(compaction(&plan).strategy, Strategy::Digest, "{count}");
            assert_eq!(plan.summary_requests(), []);
            assert!(plan.request_estimate.upper <= 8_500, "{count}: {:?}", plan.request_estimate);
            let tail: Vec<_> =
                conversation.rows[compaction(&plan).covers..].iter().map(|r| &r.message.id).collect();
            assert_eq!(plan.tail.iter().collect::<Vec<_>>(), tail, "the newest messages, without a gap");
            assert!(plan.tail.len() >= 3, "{count}");
            rules::check_shape(&plan.request).unwrap();
            rules::check_newest_user(&conversation, &plan.request).unwrap();
        }
    }

    /// However little a long prompt leaves: the digest is shortened, or left out.
    #[test]
    fn rule_2_the_digest_never_brings_the_request_back_over_85_percent() {
        let prior = words(800);
        let mut strategies = Vec::new();
        for prompt in (7_000..=8_440).step_by(40) {
            let chat = turns(Chat::new().system(&text_of(prompt)).user("Hello.").reply("Hello!"), 12, 345);
            let conversation = chat.user("And now?").conversation().compacted_by_time(3_000, prior.clone());
            let plan = after_double_failure(&conversation, &limits(10_000), Moment::BeforeSend);
            assert!(plan.request_estimate.upper <= 8_500, "{prompt}: {:?}", plan.request_estimate);
            strategies.push(compaction(&plan).strategy);
        }
        strategies.dedup();
        assert_eq!(strategies, [Strategy::Digest, Strategy::Drop]);
    }

    /// What stands for them: first and latest requests, tools with arguments and status, what was summarised before.
    #[test]
    fn rule_2_the_digest_says_what_was_asked_and_done() {
        let chat = Chat::new().user("Hello.").reply("Hello!").user("Plan a journey to Lisbon.").reply("");
        let chat =
            chat.call("a", "http_request", "{\"city\":\"Lisbon\"}").result("a", "http_request", words(40));
        let chat =
            chat.call("b", "read_file", "{}").result_with("b", "read_file", "No.", ToolStatus::Error, vec![]);
        let chat = chat.reply(text_of(6_600)).user("Which train?").reply(text_of(3_000));
        let conversation = chat.user("Thanks.").conversation().compacted_by_time(3_000, "They met.".into());
        let plan = after_double_failure(&conversation, &limits(10_000), Moment::BeforeSend);
        assert_eq!(plan.tail.len(), 1);
        assert_eq!(
            local_text(&plan),
            "Digest of the earlier conversation, made without a model.\n\n\
             Earlier summary: They met.\n\n\
             First request: Plan a journey to Lisbon.\n\n\
             Latest request: Which train?\n\n\
             Tool calls:\n- http_request {\"city\":\"Lisbon\"} → SUCCESS\n- read_file {} → ERROR"
        );
    }

    /// The failure is not paid again on the next turn.
    #[test]
    fn rule_2_after_the_fallback_the_conversation_goes_on() {
        let conversation = over_the_trigger().conversation();
        let plan = after_double_failure(&conversation, &limits(10_000), Moment::AfterResponse);
        let next = plan.carry_out(conversation, local_text(&plan));
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            assert!(!is_compact(&plan_at(&next, &limits(10_000), &ONECLAW, moment)));
        }
    }

    /// Error Scenario 2: "empty or malformed response: treat as failure".
    #[test]
    fn an_empty_or_malformed_summary_is_a_failure() {
        let conversation = over_the_trigger().conversation();
        let plan = after_response(&conversation, &limits(10_000));
        assert_eq!(judged(&plan, ""), Err(Rejection::Blank));
        assert_eq!(judged(&plan, " \r\n\t "), Err(Rejection::Blank));
        let cut = Reply { text: "They", finish: Finish::Length, tool_calls: 0 };
        assert_eq!(oneclaw_tests::gate(&plan).accept(&cut), Err(Rejection::CutByLength));
        let call = Reply { text: "", finish: Finish::Complete, tool_calls: 1 };
        assert_eq!(oneclaw_tests::gate(&plan).accept(&call), Err(Rejection::CalledTool));
    }

    /// Reliability: "Compact failure must never prevent the user from continuing the conversation", even where no
    /// automatic summary is wanted at all.
    #[test]
    fn a_conversation_over_the_hard_limit_can_always_be_sent() {
        let conversation = turns(Chat::new(), 100, 345).user("And now?").conversation();
        let off = ONECLAW.with("auto=false").unwrap();
        let plans = [
            after_double_failure(&conversation, &limits(10_000), Moment::BeforeSend),
            plan_at(&conversation, &limits(10_000), &off, Moment::BeforeSend),
        ];
        for plan in plans {
            assert!(matches!(plan.decision, Decision::Compact(_)));
            assert_eq!(plan.summary_requests(), []);
            assert!(plan.request_estimate.upper <= 8_500);
        }
    }
}

/// FEAT-011, Data Requirements, "Pre-seeded Model Context Window Sizes", and Constants.
mod data_requirements_and_constants {
    use oneclaw_context::estimate::CHARS_PER_TOKEN;
    use oneclaw_context::policy::{ONECLAW, Ratio};
    use oneclaw_context::truncate::HEAD_CAP_UNITS;
    use oneclaw_model::PresetModel;

    #[test]
    fn pre_seeded_models_have_the_windows_of_the_table() {
        for (id, window) in [
            ("claude-sonnet-4-20250514", 200_000),
            ("claude-haiku-3-5-20241022", 200_000),
            ("claude-opus-4-20250514", 200_000),
            ("gpt-4o", 128_000),
            ("gpt-4o-mini", 128_000),
            ("gpt-4-turbo", 128_000),
            ("gemini-2.0-flash", 1_048_576),
            ("gemini-2.5-pro-preview-05-06", 1_048_576),
        ] {
            assert_eq!(PresetModel::find(id).map(|m| m.window), Some(window), "{id}");
        }
    }

    #[test]
    fn the_constants_are_those_of_the_document() {
        assert_eq!(ONECLAW.threshold, Ratio::percent(85));
        assert_eq!(ONECLAW.tail_share, Ratio::percent(25));
        assert_eq!((ONECLAW.result_units, HEAD_CAP_UNITS), (30_000, 30_000));
        assert_eq!(CHARS_PER_TOKEN, 4);
    }
}

/// FEAT-011, Test Points, "Edge Cases" and "Performance Tests", Reliability, and Error Scenarios 3 to 5. Exactly at the
/// limit and multi-byte characters: `tool_result_truncation`. A switch of models: `typical_scenarios`.
mod edge_cases {
    use super::{
        after_response, assistant, compaction, ids, judged, limits, only_text, text_of, turns, user,
    };
    use oneclaw_context::plan::{Culprit, SendReason};
    use oneclaw_context::policy::ONECLAW;
    use oneclaw_context::{Conversation, Decision, Moment};
    use oneclaw_model::{ModelLimits, Request};
    use oneclaw_tests::{Chat, plan_at};

    const MOMENTS: [Moment; 5] =
        [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse, Moment::Manual, Moment::Overflow];

    #[test]
    fn session_with_0_messages() {
        for moment in MOMENTS {
            let plan = plan_at(&Conversation::default(), &limits(10_000), &ONECLAW, moment);
            assert!(matches!(plan.decision, Decision::Send(_)), "{moment:?} {:?}", plan.decision);
            assert_eq!(plan.request, Request { max_output: Some(1_000), ..Request::default() });
            assert_eq!((plan.boundary, plan.tail), (None, vec![]));
        }
    }

    #[test]
    fn session_with_only_1_user_message() {
        let conversation = Chat::new().user("Hi.").conversation();
        for moment in MOMENTS {
            let plan = plan_at(&conversation, &limits(10_000), &ONECLAW, moment);
            assert!(matches!(plan.decision, Decision::Send(_)), "{moment:?} {:?}", plan.decision);
            assert_eq!(plan.request.messages, [user("Hi.")]);
        }
    }

    /// It cannot be summarised away: over the trigger it is sent, over the hard limit it is named as the culprit.
    #[test]
    fn session_with_only_1_user_message_that_is_too_long() {
        let plan_of = |tokens: u64| {
            let conversation = Chat::new().user(text_of(tokens)).conversation();
            plan_at(&conversation, &limits(10_000), &ONECLAW, Moment::BeforeSend)
        };
        let over_the_trigger = plan_of(8_700);
        assert!(
            (8_501..=9_000).contains(&over_the_trigger.estimate.upper),
            "{:?}",
            over_the_trigger.estimate
        );
        assert!(matches!(over_the_trigger.decision, Decision::Send(SendReason::NothingToGain)));
        assert_eq!(over_the_trigger.request.messages, [user(&text_of(8_700))]);
        let doubtful = plan_of(11_000);
        assert!(matches!(doubtful.decision, Decision::Send(SendReason::Tried)), "{:?}", doubtful.decision);
        let too_long = plan_of(18_000);
        let over = too_long.estimate.expected - 9_000;
        assert!(
            matches!(too_long.decision, Decision::Irreducible { culprit: Culprit::NewestMessage, over: o, limit: 9_000 } if o == over)
        );
    }

    /// Reliability: "sessions with only user messages". The newest stays, the older ones are summarised.
    #[test]
    fn session_with_only_user_messages() {
        let few = Chat::new().user("One?").user("Two?").user("Three?").conversation();
        let plan = after_response(&few, &limits(10_000));
        assert!(matches!(plan.decision, Decision::Send(SendReason::Fits)));
        assert_eq!(plan.request.messages, [user("One?\n\nTwo?\n\nThree?")]);

        let many = (1..=30).fold(Chat::new(), |chat, n| chat.user(format!("Question {n}: {}", text_of(345))));
        let many = many.conversation();
        let plan = plan_at(&many, &limits(10_000), &ONECLAW, Moment::BeforeSend);
        let covers = compaction(&plan).covers;
        assert_eq!(plan.tail, ids(covers + 1, 30));
        assert_eq!(plan.request.messages.len(), 1);
        let asked: String =
            plan.summary_requests().iter().map(|r| only_text(&r.request).to_owned()).collect();
        let summarised: Vec<usize> = (1..=30).filter(|n| asked.contains(&format!("Question {n}:"))).collect();
        assert_eq!(summarised, (1..=covers).collect::<Vec<_>>());
        let summary = judged(&plan, "Many questions, no answer.").unwrap().text;
        let sent = plan_at(&plan.carry_out(many, &summary), &limits(10_000), &ONECLAW, Moment::BeforeSend);
        assert!(sent.request.messages[0].text().ends_with(&format!("Question 30: {}", text_of(345))));
    }

    /// Error Scenario 4: "No compact needed (no-op). This can happen if the conversation has few but very recent long
    /// messages".
    #[test]
    fn all_messages_are_within_the_protected_window() {
        let conversation = turns(Chat::new().system(&text_of(8_420)), 1, 50).user("And now?").conversation();
        let plan = plan_at(&conversation, &limits(10_000), &ONECLAW, Moment::BeforeSend);
        assert!(plan.estimate.upper > 8_500, "{:?}", plan.estimate);
        assert!(matches!(plan.decision, Decision::Send(SendReason::NothingToGain)), "{:?}", plan.decision);
        assert_eq!((plan.tail, plan.request.messages.len()), (ids(1, 3), 3));
    }

    /// Error Scenario 3: "Skip compact entirely (no-op)".
    #[test]
    fn the_window_is_unknown() {
        let conversation = turns(Chat::new(), 100, 345).conversation();
        let plan = after_response(&conversation, &ModelLimits::default());
        assert!(matches!(plan.decision, Decision::Send(SendReason::WindowUnknown)));
        assert_eq!(plan.tail, ids(1, 200));
    }

    /// "Session already has a compactedSummary from a previous compact", made by the original app: a timestamp only.
    #[test]
    fn session_already_has_a_summary_of_the_original_app() {
        let chat = Chat::new().user("One?").reply("One.").user("Two?").reply("Two.").user("Three?");
        let conversation = chat.conversation().compacted_by_time(3_000, "They counted to one.".into());
        let plan = plan_at(&conversation, &limits(10_000), &ONECLAW, Moment::BeforeSend);
        let expected = Request {
            system: Some(format!(
                "Previous conversation summary:\n{}\n\n---\n\n\
                 Continue the conversation based on the summary above.",
                oneclaw_tests::framed("They counted to one.")
            )),
            tools: vec![],
            messages: vec![user("Two?"), assistant("Two."), user("Three?")],
            max_output: Some(1_000),
        };
        assert_eq!(plan.request, expected);
        assert_eq!(plan.boundary, Some("m3".into()));
    }

    /// The same over the trigger: the old summary is merged, not lost and not doubled.
    #[test]
    fn session_with_a_summary_of_the_original_app_is_compacted_again() {
        let first = Chat::new().user("One?").reply("One.");
        let conversation =
            turns(first, 12, 345).conversation().compacted_by_time(3_000, "They counted.".into());
        let plan = after_response(&conversation, &limits(10_000));
        let asked: String =
            plan.summary_requests().iter().map(|r| only_text(&r.request).to_owned()).collect();
        assert_eq!(asked.matches("They counted.").count(), 1);
        assert!(!asked.contains("One?"), "what is covered is not read again");
        let summary = judged(&plan, "They counted. Then they talked.").unwrap().text;
        let sent = after_response(&plan.carry_out(conversation, &summary), &limits(10_000)).request;
        assert_eq!(sent.system.unwrap().matches("They counted.").count(), 1);
    }

    /// Performance Tests: "Compact completion time with 100+ messages": here only that it is done.
    #[test]
    fn thousands_of_messages() {
        let conversation = turns(Chat::new(), 1_500, 50).user("And now?").conversation();
        let plan = plan_at(&conversation, &limits(10_000), &ONECLAW, Moment::BeforeSend);
        assert!(compaction(&plan).covers > 2_900);
        assert!(plan.request_estimate.upper <= 5_000);
        assert!(plan.summary_requests().iter().all(|r| r.upper <= 9_000));
    }
}
