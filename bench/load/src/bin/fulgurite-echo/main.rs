//! Answers every LDAP request at once and without looking at it: what sockets alone cost, for both
//! sides.
//!
//! A search returns one entry of a person's size. A presence filter returns as many entries as a
//! directory has. Any other request succeeds. A server's CPU time beyond this one's is its real
//! work. If a load generator gets no more answers from this server than from another, the generator
//! is the limit.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};

use anyhow::Context as _;
use clap::Parser;
use fulgurite_ldap::frame;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

/// Answers every LDAP request with a fixed answer.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Address and port.
    #[arg(long, default_value = "127.0.0.1:3899")]
    listen: String,
    /// Entries that a search by a presence filter gets.
    #[arg(long, default_value_t = 1)]
    entries: u64,
}

/// The answer to searches.
struct Answers {
    entry: Vec<u8>,
    /// To searches for whatever is there.
    entries: u64,
}

/// Output is written when there is more of it than this.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

const LISTENER: Token = Token(usize::MAX);

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let address = arguments
        .listen
        .parse()
        .context("--listen is not an address")?;
    let answers = Answers {
        entry: entry(),
        entries: arguments.entries,
    };
    let mut listener = TcpListener::bind(address)?;
    let mut poll = Poll::new()?;
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut events = Events::with_capacity(256);
    let mut connections: HashMap<Token, (TcpStream, Vec<u8>)> = HashMap::new();
    let mut next = 0;
    let mut scratch = vec![0; 64 << 10];
    loop {
        poll.poll(&mut events, None)?;
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    stream.set_nodelay(true)?;
                    next += 1;
                    poll.registry()
                        .register(&mut stream, Token(next), Interest::READABLE)?;
                    connections.insert(Token(next), (stream, Vec::new()));
                }
            } else if let Some((stream, input)) = connections.get_mut(&event.token())
                && !matches!(serve(stream, input, &mut scratch, &answers), Ok(true))
            {
                connections.remove(&event.token());
            }
        }
    }
}

/// Answers what has come; false at the end.
fn serve(
    stream: &mut TcpStream,
    input: &mut Vec<u8>,
    scratch: &mut [u8],
    answers: &Answers,
) -> anyhow::Result<bool> {
    loop {
        let count = match stream.read(scratch) {
            Ok(0) => return Ok(false),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        input.extend_from_slice(scratch.get(..count).unwrap_or_default());
        let mut output = Vec::new();
        let mut taken = 0;
        while let Some(len) = frame(input.get(taken..).unwrap_or_default(), usize::MAX)? {
            let pdu = input.get(taken..taken + len).unwrap_or_default();
            let full = |output: &mut Vec<u8>| {
                let written = write_all(stream, output);
                output.clear();
                written
            };
            answer(pdu, answers, &mut output, full)?.context("that is no LDAP message")?;
            taken += len;
        }
        input.drain(..taken);
        write_all(stream, &output)?;
    }
}

/// Writes everything; peers that do not read are of the benchmark's own kind, and do soon.
fn write_all(stream: &mut TcpStream, mut output: &[u8]) -> io::Result<()> {
    while !output.is_empty() {
        match stream.write(output) {
            Ok(count) => output = output.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The answer to one message, none if it is no message. Output that gets long is taken away
/// meanwhile.
fn answer(
    pdu: &[u8],
    answers: &Answers,
    output: &mut Vec<u8>,
    mut take: impl FnMut(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<Option<()>> {
    let Some((id, operation)) = parts(pdu) else {
        return Ok(None);
    };
    let result = match operation.first() {
        Some(0x63) => {
            let is_any = filter_tag(operation) == Some(0x87);
            for _ in 0..if is_any { answers.entries } else { 1 } {
                message(id, 0x64, &answers.entry, output);
                if output.len() > OUTPUT_BYTES_MAX {
                    take(output)?;
                }
            }
            0x65
        }
        // A delete's tag is primitive, its answer's is not.
        Some(0x4a) => 0x6b,
        Some(request) => request + 1,
        None => return Ok(None),
    };
    message(id, result, &[0x0a, 1, 0, 4, 0, 4, 0], output);
    Ok(Some(()))
}

/// The id of a message as it is written, and its operation.
fn parts(pdu: &[u8]) -> Option<(&[u8], &[u8])> {
    // SEQUENCE, its length, INTEGER of the id, the operation.
    let header = content_at(pdu)?;
    let id_len = 2 + usize::from(*pdu.get(header + 1)?);
    pdu.split_at_checked(header)?.1.split_at_checked(id_len)
}

/// The tag of a search's filter: behind the base, scope, aliases, both limits, and the word about
/// types.
fn filter_tag(search: &[u8]) -> Option<u8> {
    let mut rest = search.get(content_at(search)?..)?;
    for _ in 0..6 {
        let len = usize::from(*rest.get(1)?);
        // Longer ones are not what the load generator writes.
        rest = rest.get(2 + len..).filter(|_| len < 0x80)?;
    }
    rest.first().copied()
}

/// Where an element's content begins.
fn content_at(element: &[u8]) -> Option<usize> {
    Some(
        2 + match element.get(1)? {
            long if long & 0x80 != 0 => usize::from(long & 0x7f),
            _ => 0,
        },
    )
}

/// A name and seven attributes.
fn entry() -> Vec<u8> {
    let mut attributes = Vec::new();
    for name in [
        "objectClass",
        "uid",
        "cn",
        "sn",
        "givenName",
        "mail",
        "description",
    ] {
        let value = element(4, b"about as much as a person has");
        let attribute = [element(4, name.as_bytes()), element(0x31, &value)].concat();
        attributes.extend(element(0x30, &attribute));
    }
    let name = element(4, b"uid=echo,ou=people,dc=example,dc=com");
    [name, element(0x30, &attributes)].concat()
}

fn message(id: &[u8], tag: u8, content: &[u8], output: &mut Vec<u8>) {
    let operation = element(tag, content);
    output.extend(element(0x30, &[id, &operation].concat()));
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let mut out = match u8::try_from(len) {
        Ok(short @ 0..0x80) => vec![tag, short],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    out.extend_from_slice(content);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_ldap::{
        FilterBuf, Request, Response, ResponseMessage, Scope, SearchRequest, encode,
    };

    #[test]
    fn a_search_gets_an_entry_and_a_result_with_its_id() {
        let filter = FilterBuf::parse("(uid=x)").unwrap();
        let mut request = Vec::new();
        let search = SearchRequest::new("dc=x", Scope::Subtree, filter.filter());
        encode::request(&mut request, 70_000, &Request::Search(search), &[]);
        let mut output = Vec::new();
        let answers = Answers {
            entry: entry(),
            entries: 3,
        };
        let all = |_: &mut Vec<u8>| Ok(());
        answer(&request, &answers, &mut output, all)
            .unwrap()
            .unwrap();
        let len = frame(&output, usize::MAX).unwrap().unwrap();
        let (first, second) = output.split_at(len);
        let first = ResponseMessage::decode(first).unwrap();
        assert_eq!(first.id, 70_000);
        assert!(matches!(first.response, Response::SearchEntry(_)));
        let second = ResponseMessage::decode(second).unwrap();
        assert!(second.response.result().unwrap().is_success());

        let filter = FilterBuf::parse("(objectClass=*)").unwrap();
        let search = SearchRequest::new("dc=x", Scope::Subtree, filter.filter());
        let (mut request, mut output) = (Vec::new(), Vec::new());
        encode::request(&mut request, 1, &Request::Search(search), &[]);
        answer(&request, &answers, &mut output, all)
            .unwrap()
            .unwrap();
        let mut messages = 0;
        let mut rest = output.as_slice();
        while let Some(len) = frame(rest, usize::MAX).unwrap() {
            rest = &rest[len..];
            messages += 1;
        }
        assert_eq!(messages, 4);
    }
}
