//! One request as the pages see it, and a response.

use std::net::IpAddr;
use std::time::Instant;

/// A parsed request. Its body, if any, was a form.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    pub(crate) is_post: bool,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) form: Vec<(String, String)>,
    /// The values of the fields `Host`, `Origin`, `Sec-Fetch-Site` and `Cookie`.
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    pub(crate) fetch_site: Option<String>,
    pub(crate) cookies: String,
    pub(crate) peer: IpAddr,
}

/// A response.
#[derive(Debug)]
pub(crate) struct PageResponse {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    pub(crate) location: Option<String>,
    pub(crate) cookies: Vec<String>,
    /// A response that must not leave earlier: it hides the work for it.
    pub(crate) not_before: Option<Instant>,
    /// The DN of a user whose other sessions end, because it has another password, a lock, or
    /// no entry now.
    pub(crate) ends_sessions_of: Option<String>,
}

/// Returns the first value of a name.
fn first<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    let mut pairs = pairs.iter();
    let pair = pairs.find(|(key, _)| key == name);
    pair.map_or("", |(_, value)| value.as_str())
}

impl PageRequest {
    /// Returns a parameter of the URL; empty if absent.
    pub(crate) fn query(&self, name: &str) -> &str {
        first(&self.query, name)
    }

    /// Returns a field of the form; empty if absent.
    pub(crate) fn field(&self, name: &str) -> &str {
        first(&self.form, name)
    }

    /// Returns a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let mut cookies = self.cookies.split(';').map(str::trim);
        cookies.find_map(|cookie| cookie.strip_prefix(name)?.strip_prefix('='))
    }
}

impl PageResponse {
    /// Returns a page.
    pub(crate) fn page(status: u16, body: String) -> PageResponse {
        PageResponse {
            status,
            content_type: "text/html; charset=utf-8",
            body,
            location: None,
            cookies: Vec::new(),
            not_before: None,
            ends_sessions_of: None,
        }
    }

    /// Returns a response that sends the browser to another page by GET.
    pub(crate) fn redirect(location: impl Into<String>) -> PageResponse {
        PageResponse {
            location: Some(location.into()),
            ..PageResponse::page(303, String::new())
        }
    }

    /// Returns one line of text.
    pub(crate) fn text(status: u16, line: &str) -> PageResponse {
        PageResponse {
            content_type: "text/plain; charset=utf-8",
            ..PageResponse::page(status, format!("{line}\n"))
        }
    }
}

/// Reads pairs of a query or of a form.
pub(crate) fn pairs(bytes: &[u8]) -> Vec<(String, String)> {
    let pairs = form_urlencoded::parse(bytes);
    pairs
        .map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n")))
        .collect()
}

/// Returns a path with parameters.
pub(crate) fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(format!("{path}?"));
    for (name, value) in parameters {
        query.append_pair(name, value);
    }
    query.finish()
}
