//! Keys are asked for with the origin that they would be sent to.

use super::kit::{House, MODEL, PROVIDER, Setup, errors};
use oneclaw_agent::KeyVault;
use oneclaw_providers::{ApiKey, Origin};
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-house-0123456789";

/// Has a key for one origin once it is told which, and notes who asks.
#[derive(Default)]
struct Bound {
    origin: Mutex<Option<Origin>>,
    asked: Mutex<Vec<(String, String)>>,
}

impl KeyVault for Bound {
    fn key(&self, provider_id: &str, origin: &Origin) -> Result<Option<ApiKey>, String> {
        self.asked.lock().unwrap().push((provider_id.to_owned(), origin.to_string()));
        let is_its_own = self.origin.lock().unwrap().as_ref() == Some(origin);
        Ok(is_its_own.then(|| ApiKey::new(KEY.to_owned())))
    }
}

fn origin(house: &House) -> Origin {
    Origin::of(&house.server.base_url(house.setup.kind)).unwrap()
}

#[tokio::test]
async fn a_key_is_asked_for_by_origin_and_does_not_follow_a_service_to_another() {
    let vault = Arc::new(Bound::default());
    let setup = Setup { key: Some(KEY), vault: Some(vault.clone()), ..Setup::window(16_000) };
    let mut house = setup.build("keys-origin").await;
    let first = origin(&house);
    *vault.origin.lock().unwrap() = Some(first.clone());
    house.ask("Hello.").await;
    assert!(
        house.agent.models(PROVIDER).await.is_ok_and(|listed| listed.iter().any(|model| model.id == MODEL))
    );
    house.compact(None).await;
    let asked = std::mem::take(&mut *vault.asked.lock().unwrap());
    assert!(asked.len() >= 3, "{asked:?}");
    assert!(asked.iter().all(|asked| *asked == (PROVIDER.to_owned(), first.to_string())), "{asked:?}");

    house.new_server().await;
    let second = origin(&house);
    assert_ne!(first, second);
    let missing = format!("{second} wants a key, and none was given for this address: ");
    let failed = errors(&house.send("Hello again.").await);
    assert!(failed.len() == 1 && failed[0].starts_with(&format!("Auth final: {missing}")), "{failed:?}");
    let listed = house.agent.models(PROVIDER).await.unwrap_err();
    assert!(listed.to_string().starts_with(&missing), "{listed}");
    let asked = vault.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|asked| *asked == (PROVIDER.to_owned(), second.to_string())), "{asked:?}");

    // Given for where it is now, it is used there.
    *vault.origin.lock().unwrap() = Some(second);
    house.ask("And now?").await;
}
