//! A run on its way to a listener: events in order, pieces of text joined to about one call a frame (ADR 0014).

use crate::CoreError;
use crate::convert::event_out;
use crate::runtime::runtime;
use crate::types::{ChatEvent, ChatListener};
use oneclaw_agent::{Event, Run, Stop};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Pieces that come within one frame are one call.
const FRAME: Duration = Duration::from_millis(16);

/// A run that goes on. Letting go of it stops it: what was said is kept and marked as interrupted.
#[derive(uniffi::Object)]
pub struct RunHandle {
    message_id: Option<String>,
    stop: Stop,
}

#[uniffi::export]
impl RunHandle {
    /// The message that was saved before the run began, if it began with one.
    pub fn message_id(&self) -> Option<String> {
        self.message_id.clone()
    }

    /// Ends the run. The listener still hears what follows from that, and `Finished`.
    pub fn cancel(&self) {
        self.stop.stop();
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Lets a listener hear a run. Its calls come from one thread; what it throws is logged and changes nothing.
pub(crate) fn listen(mut run: Run, listener: Arc<dyn ChatListener>) -> Result<Arc<RunHandle>, CoreError> {
    let handle = RunHandle { message_id: run.message_id.take(), stop: run.stopper() };
    let runtime = runtime()?;
    runtime.spawn_blocking(move || runtime.block_on(tell(run, listener)));
    Ok(Arc::new(handle))
}

async fn tell(mut run: Run, listener: Arc<dyn ChatListener>) {
    let call = |event: ChatEvent| {
        if let Err(error) = listener.on_event(event) {
            log::warn!("a listener failed: {error}");
        }
    };
    let mut kept: Option<Event> = None;
    let mut frame_ends = Instant::now();
    loop {
        let next = match &kept {
            None => Ok(run.next().await),
            Some(_) => timeout_at(frame_ends, run.next()).await,
        };
        match next {
            // The frame is over.
            Err(_) => kept.take().map(event_out).into_iter().for_each(call),
            Ok(None) => break,
            Ok(Some(event)) => {
                let mut before = kept.take();
                if before.as_mut().is_some_and(|before| join(before, &event)) {
                    kept = before;
                    continue;
                }
                before.map(event_out).into_iter().for_each(call);
                if is_piece(&event) {
                    frame_ends = Instant::now() + FRAME;
                    kept = Some(event);
                } else {
                    call(event_out(event));
                }
            }
        }
    }
    kept.map(event_out).into_iter().for_each(call);
    call(ChatEvent::Finished);
}

fn is_piece(event: &Event) -> bool {
    matches!(
        event,
        Event::StreamingText { .. } | Event::ThinkingText { .. } | Event::ToolCallArgumentsDelta { .. }
    )
}

/// Adds a piece to the one before, if both are of the same text.
fn join(before: &mut Event, next: &Event) -> bool {
    match (before, next) {
        (Event::StreamingText { text }, Event::StreamingText { text: more })
        | (Event::ThinkingText { text }, Event::ThinkingText { text: more }) => text.push_str(more),
        (
            Event::ToolCallArgumentsDelta { tool_call_id, delta },
            Event::ToolCallArgumentsDelta { tool_call_id: same, delta: more },
        ) if tool_call_id == same => delta.push_str(more),
        _ => return false,
    }
    true
}
