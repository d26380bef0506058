//! The part of HTTP/1.1 (RFC 9112) that a GET of a file needs.

use std::io;

/// Limit of the head of a message.
pub(super) const HEAD_MAX: usize = 8_192;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Length of the head at the start of `bytes`, with its blank line; `None` if it is incomplete.
pub(super) fn head_length(bytes: &[u8]) -> Option<usize> {
    let ends = bytes.windows(HEAD_END.len());
    let at = ends.into_iter().position(|window| window == HEAD_END)?;
    Some(at + HEAD_END.len())
}

/// The request for a file.
pub(super) fn request(path: &str, keep_alive: bool) -> String {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\n\r\n")
}

/// A parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request<'a> {
    /// Without the leading slash.
    pub(super) path: &'a str,
    pub(super) keep_alive: bool,
}

/// Parses the head of a request.
pub(super) fn parse_request(head: &[u8]) -> io::Result<Request<'_>> {
    let text = std::str::from_utf8(head).map_err(|_| malformed("a request is not UTF-8"))?;
    let first = text.lines().next().unwrap_or_default();
    let path = first
        .strip_prefix("GET /")
        .and_then(|rest| rest.strip_suffix(" HTTP/1.1"))
        .ok_or_else(|| malformed("a request is no GET of HTTP/1.1"))?;
    let closes = header(text, "connection").is_some_and(|it| it.eq_ignore_ascii_case("close"));
    Ok(Request {
        path,
        keep_alive: !closes,
    })
}

/// The head of a response with a body of `length` bytes.
pub(super) fn response(status: &str, length: u64, keep_alive: bool) -> String {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    format!(
        "HTTP/1.1 {status}\r\nServer: fslab/{}\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {length}\r\nConnection: {connection}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// A parsed head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response<'a> {
    pub(super) status: u16,
    /// Length of the body.
    pub(super) length: u64,
    /// The header `Server`.
    pub(super) server: Option<&'a str>,
    /// True if the connection may be reused.
    pub(super) keep_alive: bool,
}

/// Parses the head of a response.
pub(super) fn parse_response(head: &[u8]) -> io::Result<Response<'_>> {
    let text = std::str::from_utf8(head).map_err(|_| malformed("a response is not UTF-8"))?;
    let status = text
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3)?.parse().ok())
        .ok_or_else(|| malformed("a response has no status of HTTP/1.1"))?;
    let length = header(text, "content-length")
        .and_then(|length| length.parse().ok())
        .ok_or_else(|| malformed("a response does not say how long its body is"))?;
    let closes = header(text, "connection").is_some_and(|it| it.eq_ignore_ascii_case("close"));
    Ok(Response {
        status,
        length,
        server: header(text, "server"),
        keep_alive: !closes,
    })
}

/// The value of the header `name`, case-insensitive.
fn header<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut headers = text.lines().skip(1).filter_map(|line| line.split_once(':'));
    let found = headers.find(|(found, _)| found.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim())
}

fn malformed(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parsed() {
        for keep_alive in [true, false] {
            let text = request("d000/f00001", keep_alive);
            assert_eq!(head_length(text.as_bytes()), Some(text.len()));
            let parsed = parse_request(text.as_bytes()).expect("is ours");
            let path = "d000/f00001";
            assert_eq!(parsed, Request { path, keep_alive });
        }
        assert!(parse_request(b"POST / HTTP/1.1\r\n\r\n").is_err());
    }

    #[test]
    fn responses_are_parsed() {
        let mut text = response("200 OK", 77, true);
        let length = text.len();
        text.push_str("body\r\n\r\n");
        assert_eq!(head_length(text.as_bytes()), Some(length));
        assert_eq!(head_length(&text.as_bytes()[..length - 1]), None);
        let parsed = parse_response(&text.as_bytes()[..length]).expect("is ours");
        assert_eq!((parsed.status, parsed.length), (200, 77));
        assert!(parsed.server.is_some_and(|name| name.starts_with("fslab/")));
        assert!(parsed.keep_alive);
        let foreign = b"HTTP/1.1 404 Not Found\r\nSERVER: x/1\r\ncontent-length: 5\r\n\
                        connection: Close\r\n\r\n";
        let parsed = parse_response(foreign).expect("is of others");
        assert_eq!((parsed.status, parsed.server), (404, Some("x/1")));
        assert!(!parsed.keep_alive);
        assert!(
            parse_response(b"HTTP/1.1 200 OK\r\n\r\n").is_err(),
            "no length"
        );
        assert!(parse_response(b"HTTP/1.0 200\r\n\r\n").is_err());
    }
}
