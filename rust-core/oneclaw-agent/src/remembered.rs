//! What was learnt about models, as the user sees and forgets it.

use crate::agent::Agent;
use crate::failure::Failure;
use crate::learnt::{KEPT_FOR, Said, Topic, read};
use crate::session::lock;
use oneclaw_model::ProviderKind;
use oneclaw_store::engine::{self, ModelAt};
use serde::Serialize;

/// One thing that was learnt about a model at a service.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearntEntry {
    /// What kind of service it is.
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// What it is about.
    pub topic: Topic,
    /// The number, where it is one of tokens.
    pub tokens: Option<u64>,
    /// How much larger real sizes are than estimated ones, where it is about that.
    pub factor: Option<f64>,
    /// How the model is spoken to, where it is about that, as JSON.
    pub manner: Option<String>,
    /// How often it was heard.
    pub heard: u64,
    /// When it was heard last, in milliseconds since 1970.
    pub learnt_at: i64,
    /// When it is forgotten by itself.
    pub expires_at: i64,
}

impl Agent {
    /// What was learnt about all models and has not expired.
    pub async fn learnt(&self) -> Result<Vec<LearntEntry>, Failure> {
        self.check_open()?;
        let now = self.now();
        let all = self.0.read(engine::all_lessons).await?;
        let entry = |(at, lesson): (ModelAt, engine::Lesson)| {
            let (topic, said) = read(&lesson, now)?;
            let (tokens, factor, manner) = match said {
                Said::Tokens(number) => (Some(number.tokens), None, None),
                Said::Density(density) => (None, Some(density.calibration.factor()), None),
                Said::Manner(_) => (None, None, Some(lesson.value)),
            };
            Some(LearntEntry {
                kind: at.kind,
                base_url: at.base_url,
                model: at.model,
                topic,
                tokens,
                factor,
                manner,
                heard: lesson.heard,
                learnt_at: lesson.learnt_at,
                expires_at: lesson.learnt_at.saturating_add(KEPT_FOR),
            })
        };
        Ok(all.into_iter().filter_map(entry).collect())
    }

    /// Forgets some of it, in open conversations too. Says how much there was.
    pub async fn forget_learnt(&self, entries: Vec<LearntEntry>) -> Result<u64, Failure> {
        self.check_open()?;
        let named: Vec<(ModelAt, Topic)> = entries
            .into_iter()
            .map(|entry| {
                (ModelAt { kind: entry.kind, base_url: entry.base_url, model: entry.model }, entry.topic)
            })
            .collect();
        let in_file = named.clone();
        let forgotten = self
            .0
            .write(move |t| {
                in_file.iter().try_fold(0u64, |count, (at, topic)| {
                    Ok(count + u64::from(engine::forget_lesson(t, at, topic.word())?))
                })
            })
            .await?;
        let sessions: Vec<_> = lock(&self.0.sessions).values().cloned().collect();
        for session in sessions {
            for (at, topic) in &named {
                match topic {
                    Topic::Manner => {
                        lock(&session.adjusted).remove(at);
                    }
                    Topic::Density => {}
                    Topic::Window | Topic::DoubtedWindow | Topic::Output | Topic::DoubtedOutput => {
                        lock(&session.refused).remove(at);
                    }
                }
            }
        }
        Ok(forgotten)
    }
}
