//! To whom a key belongs: scheme, host and port of an address, spelt in one way.
//!
//! Decides which addresses have the same origin, and which have none. Whether an address may be spoken to is decided in
//! `address`, which key belongs to an origin by the host.

use crate::{ProviderError, address};
use reqwest::Url;
use std::fmt;

/// Scheme, host and port of an address. Equal ones are the same service; a key given for one is for no other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    is_encrypted: bool,
    /// As addresses spell it: small letters, names of other scripts in ASCII, one spelling for each number, no dot at the end.
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of an address, or why it has none. One that holds a name or password is refused: what stands before the `@`
    /// can be taken for the host.
    pub fn of(address: &str) -> Result<Self, ProviderError> {
        Self::with_url(address).map(|(origin, _)| origin)
    }

    /// The same with the address as it was read.
    pub(crate) fn with_url(address: &str) -> Result<(Self, Url), ProviderError> {
        let refused = |detail: String| Err(ProviderError::InvalidRequest { detail });
        let Ok(url) = Url::parse(address.trim()) else {
            return refused("the address cannot be read; it should look like https://host/v1".to_owned());
        };
        let origin = Self::of_url(&url)?;
        if !url.username().is_empty() || url.password().is_some() {
            let host = &origin.host;
            return refused(format!("the address of {host} holds a name or password; use the API key"));
        }
        Ok((origin, url))
    }

    /// The origin of an address that was read already.
    pub(crate) fn of_url(url: &Url) -> Result<Self, ProviderError> {
        let refused = |detail: String| Err(ProviderError::InvalidRequest { detail });
        let host = url.host_str().unwrap_or_default();
        // A dot at the end says that the name is whole, which it is anyway.
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.is_empty() {
            return refused("the address names no host".to_owned());
        }
        let is_encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return refused(format!("{other} is no way to speak to {host}; use https")),
        };
        let port = url.port_or_known_default().unwrap_or_default();
        Ok(Self { is_encrypted, host: host.to_owned(), port })
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        address::is_loopback(&self.host)
    }
}

/// As it is written at the beginning of an address, without the port that is the usual one.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_encrypted { ("https", 443) } else { ("http", 80) };
        match self.port == usual {
            true => write!(f, "{scheme}://{}", self.host),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(address: &str) -> String {
        Origin::of(address).map_or_else(|_| "refused".to_owned(), |origin| origin.to_string())
    }

    #[test]
    fn one_service_has_one_origin_however_it_is_spelt() {
        for (address, expected) in [
            ("https://api.openai.com/v1", "https://api.openai.com"),
            (" HTTPS://API.OpenAI.com:443/v1/?x=1#y ", "https://api.openai.com"),
            ("https://api.openai.com./v1", "https://api.openai.com"),
            ("https://api.openai.com:8443/v1", "https://api.openai.com:8443"),
            ("https://api.openai.com:80", "https://api.openai.com:80"),
            ("http://api.openai.com/v1", "http://api.openai.com"),
            ("http://api.openai.com:80", "http://api.openai.com"),
            ("https://xn--mnchen-3ya.example/v1", "https://xn--mnchen-3ya.example"),
            ("https://MÜNCHEN.example", "https://xn--mnchen-3ya.example"),
            ("https://аpi.openai.com", "https://xn--pi-6kc.openai.com"),
            ("http://0x7f.1:1/v1", "http://127.0.0.1:1"),
            ("http://2130706433", "http://127.0.0.1"),
            ("http://[0:0:0:0:0:0:0:1]:8080/v1", "http://[::1]:8080"),
            ("http://[::FFFF:127.0.0.1]", "http://[::ffff:7f00:1]"),
            // What parsers make of signs that look like parts of an address.
            ("https://api.openai.com.evil.example/v1", "https://api.openai.com.evil.example"),
            ("https://evil.example/https://api.openai.com/v1", "https://evil.example"),
            ("https://evil.example?@api.openai.com/v1", "https://evil.example"),
            ("https://evil.example#@api.openai.com/v1", "https://evil.example"),
            ("https://evil.example\\@api.openai.com/v1", "https://evil.example"),
            ("https://api.openai.com\t.evil.example/v1", "https://api.openai.com.evil.example"),
            ("https:api.openai.com", "https://api.openai.com"),
        ] {
            assert_eq!(of(address), expected, "{address}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_service_has_no_origin() {
        for address in [
            "",
            "api.openai.com",
            "https://",
            "https://./v1",
            "https://me@api.openai.com/v1",
            "https://me:pw@api.openai.com/v1",
            "https://:pw@api.openai.com/v1",
            "https://api.openai.com@evil.example/v1",
            "https://api.openai.com:99999/v1",
            "ftp://api.openai.com/v1",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/plain,x",
        ] {
            assert_eq!(of(address), "refused", "{address}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_origins() {
        for (address, is_loopback) in [
            ("http://127.0.0.1:1", true),
            ("http://127.9.9.9", true),
            ("https://localhost.:1", true),
            ("http://[::1]", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://10.0.0.1", false),
            ("https://localhost.example", false),
            ("https://127.0.0.1.example", false),
        ] {
            assert_eq!(Origin::of(address).unwrap().is_loopback(), is_loopback, "{address}");
        }
    }

    proptest! {
        #[test]
        fn an_origin_is_its_own_origin(text in "(https?://)?[-a-zA-Zé.0-9:@\\[\\]/\\\\?# ]{0,30}") {
            if let Ok(origin) = Origin::of(&text) {
                prop_assert_eq!(Origin::of(&origin.to_string()), Ok(origin));
            }
        }

        #[test]
        fn another_port_scheme_or_host_is_another_origin(port in 1u16.., other in 1u16.., host in "[a-z]{1,8}", more in "[a-z]{1,8}") {
            let origin = |text: String| Origin::of(&text).unwrap();
            let one = origin(format!("https://{host}.example:{port}/v1"));
            prop_assert_eq!(one == origin(format!("https://{host}.example:{other}/v2")), port == other);
            prop_assert_ne!(&one, &origin(format!("http://{host}.example:{port}")));
            prop_assert_ne!(&one, &origin(format!("https://{host}.example.{more}:{port}")));
            prop_assert_ne!(&one, &origin(format!("https://{more}.{host}.example:{port}")));
        }
    }
}
