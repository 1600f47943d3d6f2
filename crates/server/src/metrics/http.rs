//! One request of HTTP/1, and its response. Nothing is kept from one request to the next.

/// Bytes of a request's head at most.
pub(super) const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Header fields of a request at most.
const FIELDS_MAX: usize = 64;

/// The parts of a request that matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// True for HEAD: the response has no body.
    pub(super) is_head: bool,
    /// The path without the query.
    pub(super) path: String,
    /// The value of the field `Authorization`.
    pub(super) authorization: Option<Vec<u8>>,
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

const TEXT: &str = "text/plain; charset=utf-8";

impl Request {
    /// Reads a request from its first bytes. `None` if there must be more of them.
    ///
    /// # Errors
    /// The response to a request that is none, or that nothing here answers.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, Response> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::plain(431, "the head of the request is too large"));
            }
            Err(_) => return Err(Response::plain(400, "this is not a request of HTTP/1")),
        }
        let is_head = match request.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Response::plain(405, "only GET and HEAD are answered here")),
        };
        let target = request.path.unwrap_or_default();
        let mut named = request.headers.iter();
        let authorization = named.find(|field| field.name.eq_ignore_ascii_case("Authorization"));
        Ok(Some(Request {
            is_head,
            path: target.split('?').next().unwrap_or_default().to_owned(),
            authorization: authorization.map(|field| field.value.to_owned()),
        }))
    }
}

impl Response {
    /// Returns a response of one line.
    pub(super) fn plain(status: u16, line: impl std::fmt::Display) -> Response {
        Response {
            status,
            content_type: TEXT,
            body: format!("{line}\n"),
        }
    }

    /// Returns the bytes of the response.
    pub(super) fn bytes(&self, has_body: bool) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            401 => "Unauthorized",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let more = match self.status {
            401 => "WWW-Authenticate: Bearer\r\n",
            405 => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{more}\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            self.status,
            self.content_type,
            self.body.len(),
        );
        let body = if has_body { self.body.as_str() } else { "" };
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(bytes: &[u8]) -> u16 {
        Request::parse(bytes).unwrap_err().status
    }

    #[test]
    fn requests_are_read() {
        let text = b"GET /metrics?a=b HTTP/1.1\r\nHost: x\r\nauthorization: Bearer t\r\n\r\nrest";
        let request = Request::parse(text).unwrap().unwrap();
        assert_eq!(
            (request.path.as_str(), request.is_head),
            ("/metrics", false)
        );
        assert_eq!(request.authorization.as_deref(), Some(&b"Bearer t"[..]));
        let head = Request::parse(b"HEAD /readyz HTTP/1.0\r\n\r\n")
            .unwrap()
            .unwrap();
        assert!(head.is_head && head.authorization.is_none());
        for len in 0..text.len() - 4 {
            assert_eq!(Request::parse(&text[..len]).unwrap(), None, "{len}");
        }
    }

    #[test]
    fn wrong_requests_get_their_status() {
        assert_eq!(status(b"POST / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status(b"\x30\x0c\x02\x01\x01"), 400);
        assert_eq!(status(b"GET / HTTP/2.0\r\n\r\n"), 400);
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(FIELDS_MAX + 1)
        );
        assert_eq!(status(many.as_bytes()), 431);
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(HEAD_BYTES_MAX));
        assert_eq!(status(long.as_bytes()), 431);
    }

    #[test]
    fn a_response_has_a_body_unless_only_its_head_was_asked_for() {
        let response = Response::plain(401, "no");
        let whole = String::from_utf8(response.bytes(true)).unwrap();
        assert!(
            whole.starts_with("HTTP/1.1 401 Unauthorized\r\n"),
            "{whole}"
        );
        assert!(whole.contains("\r\nContent-Length: 3\r\nWWW-Authenticate: Bearer\r\n"));
        assert!(whole.ends_with("\r\n\r\nno\n"), "{whole}");
        assert!(response.bytes(false).ends_with(b"\r\n\r\n"));
    }
}
