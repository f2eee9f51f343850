//! Which addresses `http_request` may speak to.
//!
//! Decides what a public address is, which hosts the user allowed besides, and that a name is only as good as the
//! addresses it has at the moment it is used. It sends nothing.
//!
//! A host that is written as an address is judged as it stands in the URL (which has brought decimal, octal and
//! hexadecimal forms into one). A name is judged when it is looked up: the resolver of the HTTP client hands out only the
//! public ones of a name's addresses, and these are the ones connected to. There is no second question whose
//! answer could differ.

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

/// Which hosts may be spoken to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Guard {
    /// Public addresses only.
    #[default]
    Public,
    /// Public addresses, and these hosts whatever their address is. An entry is `host`, for all its ports, or
    /// `host:port`; IPv6 addresses stand in brackets if a port follows.
    Allow(Vec<String>),
}

impl Guard {
    /// Whether the user allowed this host by name, so that its address does not matter.
    pub(super) fn allows(&self, url: &Url) -> bool {
        let Self::Allow(entries) = self else { return false };
        let Some(host) = url.host_str().map(bare) else { return false };
        entries.iter().any(|entry| {
            let (name, port) = entry_parts(entry);
            // The host is brought into the form that URLs have.
            let same = Url::parse(&format!("http://{name}/"))
                .is_ok_and(|url| url.host_str().map(bare) == Some(host));
            same && port.is_none_or(|port| url.port_or_known_default() == Some(port))
        })
    }

    /// Whether the host may be asked for at all. A name that is not an address yet may be; it is judged when it is
    /// looked up.
    pub(super) fn may_ask(&self, url: &Url) -> bool {
        let literal = url
            .host_str()
            .and_then(|host| host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok());
        self.allows(url) || literal.is_none_or(is_public)
    }
}

/// Without the dot that may end a name.
fn bare(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// The host of an entry, in brackets if it needs them, and the port if one is named.
fn entry_parts(entry: &str) -> (String, Option<u16>) {
    let entry = entry.trim();
    if let Ok(address) = entry.parse::<Ipv6Addr>() {
        return (format!("[{address}]"), None);
    }
    match entry.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
        Some((host, Ok(port))) => (host.to_owned(), Some(port)),
        _ => (entry.to_owned(), None),
    }
}

/// Whether an address belongs to the public internet, going by the IANA registries of special-purpose addresses.
/// What carries another address inside itself (mapped, 6to4, Teredo, ISATAP) is not taken for public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        // This network, private, loopback, multicast and reserved with the broadcast address.
        [0 | 10 | 127 | 224..=255, ..] => true,
        // Between a provider and its customers; some clouds keep their metadata here.
        [100, 64..=127, ..] => true,
        // Link-local; 169.254.169.254 holds the metadata of most clouds.
        [169, 254, ..] => true,
        [172, 16..=31, ..] | [192, 168, ..] => true,
        // Protocols, documentation, the old 6to4 relays.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 51, 100, _] | [203, 0, 113, _] => true,
        // Benchmarks.
        [198, 18 | 19, ..] => true,
        // Azure's own host, seen from inside a machine there.
        [168, 63, 129, 16] => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only 2000::/3 is given out. That leaves out ::, ::1, ::ffff:0:0/96, 100::/64, 5f00::/16,
    // fc00::/7, fe80::/10, fec0::/10 and ff00::/8.
    let special = match address.segments() {
        // Networks without IPv4 reach it through 64:ff9b::/96: judged by the address inside.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            return is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
        }
        [0x2000..=0x3fff, ..] if is_isatap(address) => true,
        // Protocols, with Teredo at 2001::/32 and benchmarks at 2001:2::/48.
        [0x2001, 0..=0x01ff, ..] => true,
        // Documentation.
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => true,
        // 6to4.
        [0x2002, ..] => true,
        [0x2000..=0x3fff, ..] => false,
        _ => true,
    };
    !special
}

/// An IPv4 address in the last bits, behind `0:5efe` (RFC 5214).
fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x0200, 0x5efe, _, _])
}

/// The addresses of a name in the making.
pub(super) type Found = Pin<Box<dyn Future<Output = std::io::Result<Vec<SocketAddr>>> + Send>>;

/// Asks for the addresses of a name.
pub(super) type Ask = Arc<dyn Fn(String) -> Found + Send + Sync>;

/// Asks the system.
pub(super) fn system() -> Ask {
    Arc::new(|name| Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) }))
}

/// The resolver of an HTTP client.
pub(super) struct Lookup {
    ask: Ask,
    /// Whether only public addresses are handed out.
    is_guarded: bool,
}

/// A name had addresses, but none of them public. It does not say which: that is not a model's business.
#[derive(Debug, thiserror::Error)]
#[error("the name has no public address")]
pub(super) struct NotPublic;

impl Lookup {
    pub fn new(ask: Ask, is_guarded: bool) -> Self {
        Self { ask, is_guarded }
    }
}

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.ask)(name.as_str().to_owned());
        let is_guarded = self.is_guarded;
        Box::pin(async move {
            let mut addresses = found.await?;
            let all = addresses.len();
            addresses.retain(|address| !is_guarded || is_public(address.ip()));
            if addresses.is_empty() && all > 0 {
                return Err(NotPublic.into());
            }
            // The port is the one in the URL.
            for address in &mut addresses {
                address.set_port(0);
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("is_guarded", &self.is_guarded).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Names with the addresses they have, always.
    pub fn names(table: &'static [(&'static str, &'static [&'static str])]) -> Ask {
        Arc::new(move |name| {
            let found = table.iter().find(|(known, _)| *known == name);
            let addresses = found.map_or(&[][..], |(_, addresses)| addresses);
            let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
            Box::pin(async move { Ok(addresses) })
        })
    }

    #[test]
    fn public_addresses() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db9::1",
            "2003::1",
            "2606:4700:4700::1111",
            "3ffe::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn all_other_addresses() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:53aa:64c:0:0:80ff:fffe",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:a00:1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn hosts_written_as_addresses_in_any_form() {
        for host in [
            "127.0.0.1",
            "127.1",
            "0",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "0177.0.0.1",
            "127.0.0.1.",
            "169.254.169.254",
            "0xA9FEA9FE",
            "2852039166",
            "１２７.0.0.1",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "[::1]",
            "[::]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::10.0.0.1]",
            "[fe80::1]",
            "[fd00:ec2::254]",
            // Capitals, zeros before the number, digits in circles.
            "0X7F.0X0.0X0.0X1",
            "0X7F000001",
            "00000177.1",
            "127.0.0.01",
            "①②⑦.⓪.⓪.①",
            "[::FFFF:A9FE:A9FE]",
            // This network, and the one between providers and customers.
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "100.127.255.254",
            // IPv4 inside IPv6: compatible, translated, 6to4, Teredo, both prefixes of NAT64.
            "[::127.0.0.1]",
            "[::ffff:0:127.0.0.1]",
            "[2002:7f00:1::]",
            "[2002:a9fe:a9fe::1]",
            "[2001:0:7f00:1::]",
            "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b:1::7f00:1]",
            // What stands before the last @ is no host, and a backslash is a slash.
            "example.com@127.0.0.1",
            "example.com:80@[::1]",
            "8.8.8.8@0x7f.1",
            "127.0.0.1\\@example.com",
            "127.0.0.1#@example.com",
            "127.0.0.1?@example.com",
        ] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            assert!(!Guard::Public.may_ask(&url), "{host}");
        }
        for host in
            ["8.8.8.8", "0x08080808", "[2606:4700::1111]", "[64:ff9b::8.8.8.8]", "example.com", "localhost"]
        {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            assert!(Guard::Public.may_ask(&url), "{host}");
        }
        // Addresses with a zone, with too many parts or too large are none.
        for host in ["[fe80::1%25eth0]", "[::1%lo]", "[::1", "256.0.0.1", "127.0.0.0.1", "0x100000000"] {
            assert!(Url::parse(&format!("http://{host}/")).is_err(), "{host}");
        }
    }

    #[test]
    fn allowed_hosts_are_these_and_no_others() {
        let guard = Guard::Allow(
            ["LocalHost", "127.0.0.1:8080", "[::1]:8080", "fd00::5", "site.test:443", "10.0.0.0x1"]
                .map(str::to_owned)
                .to_vec(),
        );
        for (url, allowed) in [
            ("http://localhost/", true),
            ("http://localhost:99/", true),
            ("http://LOCALHOST./", true),
            ("http://127.0.0.1:8080/", true),
            ("http://2130706433:8080/", true),
            ("http://127.0.0.1:8081/", false),
            ("http://127.0.0.1/", false),
            ("http://127.0.0.2:8080/", false),
            ("http://[::1]:8080/", true),
            ("http://[::1]/", false),
            ("http://[fd00::5]:1/", true),
            ("https://site.test/", true),
            ("http://site.test/", false),
            ("http://localhost.evil.test/", false),
            ("http://evil.localhost/", false),
            ("http://10.0.0.1/", true),
        ] {
            assert_eq!(guard.allows(&Url::parse(url).unwrap()), allowed, "{url}");
        }
        assert!(!Guard::Public.allows(&Url::parse("http://example.com/").unwrap()));
    }

    async fn resolved(lookup: &Lookup, name: &str) -> Result<Vec<String>, String> {
        let found = lookup.resolve(name.parse().unwrap()).await;
        found.map(|all| all.map(|one| one.to_string()).collect()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn only_public_answers_are_handed_out() {
        let table = names(&[
            ("mixed.test", &["127.0.0.1", "93.184.216.34", "::ffff:10.0.0.1", "2606:4700::1111", "fe80::1"]),
            ("inner.test", &["10.0.0.1", "::1"]),
            ("nothing.test", &[]),
        ]);
        let guarded = Lookup::new(Arc::clone(&table), true);
        let public = ["93.184.216.34:0", "[2606:4700::1111]:0"].map(str::to_owned).to_vec();
        assert_eq!(resolved(&guarded, "mixed.test").await, Ok(public));
        assert_eq!(resolved(&guarded, "inner.test").await, Err(NotPublic.to_string()));
        assert_eq!(resolved(&guarded, "nothing.test").await, Ok(vec![]));
        let open = Lookup::new(table, false);
        assert_eq!(resolved(&open, "inner.test").await.map(|all| all.len()), Ok(2));
    }

    #[tokio::test]
    async fn an_answer_that_changes_is_judged_each_time() {
        let first = std::sync::atomic::AtomicBool::new(true);
        let changing: Ask = Arc::new(move |_| {
            let is_first = first.swap(false, std::sync::atomic::Ordering::SeqCst);
            let ip = if is_first { [93, 184, 216, 34] } else { [127, 0, 0, 1] };
            Box::pin(async move { Ok(vec![SocketAddr::from((ip, 80))]) })
        });
        let lookup = Lookup::new(changing, true);
        assert_eq!(resolved(&lookup, "rebind.test").await, Ok(vec!["93.184.216.34:0".to_owned()]));
        assert_eq!(resolved(&lookup, "rebind.test").await, Err(NotPublic.to_string()));
    }

    #[tokio::test]
    async fn the_systems_own_names_are_judged_too() {
        assert_eq!(resolved(&Lookup::new(system(), true), "localhost").await, Err(NotPublic.to_string()));
    }
}
