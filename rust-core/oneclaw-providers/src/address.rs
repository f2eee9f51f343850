//! Where a service is, and whether it may be spoken to.
//!
//! Decides which addresses are refused before anything is sent: requests carry a key and a whole conversation, so
//! unencrypted ones go to this machine or to hosts the user has named, and nowhere else.

use crate::{ApiKey, Origin, ProviderError, redact};
use oneclaw_model::ProviderKind;
use reqwest::Url;
use std::fmt;
use std::net::IpAddr;

/// A service as the user has set it up.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its dialect.
    pub kind: ProviderKind,
    /// The address that paths such as `/models` are added to.
    pub base_url: String,
    /// The key that was given for the origin of this address, if there is one.
    pub key: Option<ApiKey>,
}

impl Endpoint {
    /// Scheme, host and port: whose word it is that comes from there. The address itself where it cannot be read.
    pub fn origin(&self) -> String {
        let origin = Url::parse(self.base_url.trim()).ok().and_then(|url| Origin::of_url(&url).ok());
        origin.map_or_else(|| self.base_url.clone(), |origin| origin.to_string())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Url::parse(&self.base_url)
            .map_or_else(|_| "[unreadable]".to_owned(), |url| without_secrets(&url));
        // Some gateways have it in their path.
        let shown = self.key.as_ref().map_or(shown.clone(), |key| redact::without(&shown, key));
        f.debug_struct("Endpoint")
            .field("kind", &self.kind)
            .field("base_url", &shown)
            .field("key", &self.key)
            .finish()
    }
}

/// Hosts that may be spoken to without encryption. This machine always may.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleartext {
    /// Names or addresses, without port.
    pub hosts: Vec<String>,
}

/// An address that may be spoken to.
#[derive(Clone)]
pub(crate) struct Address(Url);

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&without_secrets(&self.0)).finish()
    }
}

impl Address {
    /// The endpoint's address, or why it is refused.
    pub fn of(endpoint: &Endpoint, cleartext: &Cleartext) -> Result<Self, ProviderError> {
        let (origin, url) = Origin::with_url(&endpoint.base_url)?;
        if origin.is_encrypted() || origin.is_loopback() || cleartext.allows(origin.host()) {
            return Ok(Self(url));
        }
        let host = origin.host();
        let detail = format!("{host} would be spoken to without encryption; use https or allow the host");
        Err(ProviderError::InvalidRequest { detail })
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// A path below the address; its query stays (some services keep their version there).
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url.set_fragment(None);
        url
    }

    /// A path beside the version of the interface: below the address without the `v1` at its end.
    pub fn join_beside_version(&self, path: &str) -> Url {
        let mut above = self.0.clone();
        let is_version = |segment: &str| segment == "v1";
        let segments = || self.0.path_segments().into_iter().flatten().filter(|segment| !segment.is_empty());
        if segments().next_back().is_some_and(is_version)
            && let Ok(mut path) = above.path_segments_mut()
        {
            path.pop_if_empty().pop();
        }
        Self(above).join(path)
    }

    /// A path below the host itself.
    pub fn at_root(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        url
    }
}

/// An address as it may be shown: its name, password and query may be secrets.
fn without_secrets(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), authority(url), url.path())
}

/// Host and port.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether the host of an address is OpenAI's own service.
pub(crate) fn is_openai(base_url: &str) -> bool {
    has_host(base_url, "api.openai.com")
}

/// Whether the host of an address is that host or one below it.
pub(crate) fn has_host(base_url: &str, wanted: &str) -> bool {
    let url = Url::parse(base_url.trim()).ok();
    is_host_or_below(url.as_ref().and_then(Url::host_str).unwrap_or_default(), wanted)
}

/// Whether a host is that host or one below it.
pub(crate) fn is_host_or_below(host: &str, wanted: &str) -> bool {
    let below = host.strip_suffix(wanted);
    below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl Cleartext {
    fn allows(&self, host: &str) -> bool {
        let wanted = normalised(host);
        self.hosts.iter().any(|allowed| normalised(allowed) == wanted)
    }
}

/// A host as addresses spell it.
fn normalised(host: &str) -> String {
    let host = host.trim().trim_end_matches('.');
    let bracketed =
        if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
    let url = Url::parse(&format!("http://{bracketed}/")).ok();
    url.as_ref().and_then(Url::host_str).unwrap_or(host).to_owned()
}

/// Whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => bare.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str) -> Endpoint {
        Endpoint { kind: ProviderKind::OpenAi, base_url: base_url.into(), key: None }
    }

    fn is_allowed(base_url: &str) -> bool {
        let cleartext = Cleartext { hosts: vec!["Box.Example.".into(), "10.0.2.2".into(), "fd00::1".into()] };
        Address::of(&endpoint(base_url), &cleartext).is_ok()
    }

    #[test]
    fn only_this_machine_and_named_hosts_are_spoken_to_in_the_clear() {
        for url in [
            "https://api.example/v1",
            "http://127.0.0.1:1/v1",
            "http://127.9.9.9",
            "http://0x7f.1/v1",
            "http://[::1]:8080/v1",
            "http://[::ffff:127.0.0.1]/",
            "http://LOCALHOST:11434/v1",
            "http://localhost./v1",
            "http://box.example:8000/v1",
            "http://10.0.2.2/v1",
            "http://[fd00::1]/v1",
        ] {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "http://api.example/v1",
            "http://localhost.example/v1",
            "http://127.0.0.1.example/v1",
            "http://0.0.0.0/v1",
            "http://sub.box.example/v1",
            "http://10.0.2.3/v1",
            "http://user:pass@127.0.0.1/v1",
            "https://user@api.example/v1",
            "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "not an address",
            "",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }

    #[test]
    fn paths_are_added_below_the_base_and_cannot_leave_it() {
        let joined = |base: &str, path: &str| {
            Address::of(&endpoint(base), &Cleartext::default()).unwrap().join(path).to_string()
        };
        assert_eq!(
            joined("https://a.example/v1/", "chat/completions"),
            "https://a.example/v1/chat/completions"
        );
        assert_eq!(joined("https://a.example/v1?v=2#x", "models"), "https://a.example/v1/models?v=2");
        assert_eq!(
            joined("https://a.example/v1beta", "models/x:stream"),
            "https://a.example/v1beta/models/x:stream"
        );
        assert_eq!(
            joined("https://a.example/v1", "models/../../a b?c#d"),
            "https://a.example/v1/models/a%20b%3Fc%23d"
        );
    }

    #[test]
    fn some_paths_stand_beside_the_version() {
        let beside = |base: &str| {
            let address = Address::of(&endpoint(base), &Cleartext::default()).unwrap();
            address.join_beside_version("tokenize").to_string()
        };
        assert_eq!(beside("https://a.example/v1"), "https://a.example/tokenize");
        assert_eq!(beside("https://a.example/models/v1/?x=1"), "https://a.example/models/tokenize?x=1");
        assert_eq!(beside("https://a.example"), "https://a.example/tokenize");
        assert_eq!(beside("https://a.example/api"), "https://a.example/api/tokenize");
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |base: &str| endpoint(base).origin();
        assert_eq!(origin("https://me:pw@A.example/v1?key=hidden"), "https://a.example");
        assert_eq!(origin("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080");
        assert_ne!(origin("http://127.0.0.1:8080/v1"), origin("http://127.0.0.1:8081/v1"));
        assert_eq!(origin("nonsense"), "nonsense");
    }

    #[test]
    fn secrets_of_an_address_are_not_shown() {
        let mut endpoint = endpoint("https://me:pw@a.example:8443/v1?key=hidden");
        endpoint.key = Some(ApiKey::new("hidden".into()));
        assert_eq!(
            format!("{endpoint:?}"),
            "Endpoint { kind: OpenAi, base_url: \"https://a.example:8443/v1\", key: Some([redacted]) }"
        );
        endpoint.base_url = "https://a.example:8443/v1?key=hidden".into();
        let address = Address::of(&endpoint, &Cleartext::default()).unwrap();
        assert_eq!(format!("{address:?}"), "Address(\"https://a.example:8443/v1\")");
    }
}
