//! The client against a server of a few lines, which answers by script.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use fulgurite_client::{
    Change, Client, ClientError, PartialAttribute, Response, ResultCode, Scope,
};
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Control, Filter, LdapResult, Limits, Message, Operation, Request, SearchRequest, encode, frame,
    oid,
};

/// Serves every connection by `answer`, which appends the responses to a request.
fn serve(answer: fn(&Message<'_>, &mut Vec<u8>)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || converse(stream, answer));
        }
    });
    address
}

fn converse(mut stream: TcpStream, answer: fn(&Message<'_>, &mut Vec<u8>)) {
    let (mut held, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let mut out = Vec::new();
        loop {
            let bytes = match frame(&held, 1 << 20) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(_) => return notice(stream, out),
            };
            match Message::decode(&held[..bytes], &Limits::default()) {
                Ok(message) if message.request == Request::Unbind => return,
                Ok(message) => answer(&message, &mut out),
                Err(error) if error.is_fatal() => return notice(stream, out),
                Err(fulgurite_ldap::DecodeError::Body { id, operation, .. }) => {
                    encode::result(
                        &mut out,
                        id,
                        operation,
                        &LdapResult::new(ResultCode::ProtocolError),
                        &[],
                    );
                }
                Err(fulgurite_ldap::DecodeError::Envelope(_)) => unreachable!("is fatal"),
            }
            held.drain(..bytes);
        }
        if stream.write_all(&out).is_err() {
            return;
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(bytes) => held.extend_from_slice(&chunk[..bytes]),
        }
    }
}

fn notice(mut stream: TcpStream, mut out: Vec<u8>) {
    encode::notice_of_disconnection(&mut out, ResultCode::ProtocolError, "this is not LDAP");
    let _ = stream.write_all(&out);
}

/// Success for everything; searches find 25 entries, in pages if asked for.
fn agreeable(message: &Message<'_>, out: &mut Vec<u8>) {
    let id = message.id;
    match &message.request {
        Request::Search(search) => agreeable_search(message, search, out),
        Request::Extended(extended) if extended.oid == oid::WHO_AM_I.as_bytes() => {
            encode::extended_result(
                out,
                id,
                &LdapResult::success(),
                None,
                Some(b"dn:cn=ada"),
                &[],
            );
        }
        Request::Compare(compare) => {
            let code = if compare.assertion.value == b"Ada" {
                ResultCode::CompareTrue
            } else {
                ResultCode::CompareFalse
            };
            encode::result(out, id, Operation::Compare, &LdapResult::new(code), &[]);
        }
        Request::Delete(_) => {
            let result = LdapResult::with_diagnostic(ResultCode::NoSuchObject, "no such entry")
                .matched("dc=example");
            encode::result(out, id, Operation::Delete, &result, &[]);
        }
        other => encode::result(out, id, other.operation(), &LdapResult::success(), &[]),
    }
}

fn agreeable_search(message: &Message<'_>, search: &SearchRequest<'_>, out: &mut Vec<u8>) {
    let all = if search.base.is_empty() {
        0..1usize
    } else {
        0..25
    };
    let control = message.controls.find(oid::PAGED_RESULTS);
    let paged = control.and_then(|control| PagedResults::decode(control.value?).ok());
    let page = match paged {
        Some(paged) => {
            let from = paged.cookie.first().copied().map_or(0, usize::from);
            from..(from + paged.size as usize).min(all.end)
        }
        None => all.clone(),
    };
    for number in page.clone() {
        let mut entry = encode::search_entry(
            out,
            message.id,
            format!("uid=u{number},dc=example").as_bytes(),
        );
        entry.attribute(b"uid");
        entry.value(format!("u{number}").as_bytes());
        entry.attribute(b"jpegPhoto");
        entry.value(&vec![7; number * 700]);
        entry.finish(&[]);
    }
    encode::search_reference(out, message.id, ["ldap://elsewhere/dc=other"], &[]);
    let cookie = [page.end.to_le_bytes()[0]];
    let cookie: &[u8] = if page.end < all.end { &cookie } else { &[] };
    let value = PagedResults { size: 0, cookie }.encode();
    let control = Control::with_value(oid::PAGED_RESULTS, false, &value);
    let controls = if paged.is_some() {
        vec![control]
    } else {
        vec![]
    };
    encode::result(
        out,
        message.id,
        Operation::Search,
        &LdapResult::success(),
        &controls,
    );
}

fn connect(address: SocketAddr) -> Client {
    let client = Client::connect(address).expect("connected");
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a timeout");
    client
}

#[test]
fn operations_return_their_results() {
    let mut client = connect(serve(agreeable));
    assert!(client.bind("cn=ada", b"secret").unwrap().is_success());
    assert_eq!(client.who_am_i().unwrap(), "dn:cn=ada");
    let attributes = [PartialAttribute::new("cn", &[b"Ada", b"Augusta"])];
    assert!(client.add("cn=ada", &attributes).unwrap().is_success());
    let changes = [
        Change::replace("mail", &[b"a@example"]),
        Change::delete("fax", &[]),
        Change::increment("n", &[b"1"]),
    ];
    assert!(client.modify("cn=ada", &changes).unwrap().is_success());
    assert!(
        client
            .modify_dn("cn=ada", "cn=augusta", true, Some("dc=example"))
            .unwrap()
            .is_success()
    );
    assert_eq!(
        client.compare("cn=ada", "cn", b"Ada").unwrap().code,
        ResultCode::CompareTrue
    );
    assert_eq!(
        client.compare("cn=ada", "cn", b"Bob").unwrap().code,
        ResultCode::CompareFalse
    );
    let refused = client.delete("cn=ada").unwrap();
    assert_eq!(
        (refused.code, refused.matched_dn.as_str()),
        (ResultCode::NoSuchObject, "dc=example")
    );
    client.abandon(77).unwrap();
    client.unbind().unwrap();
}

#[test]
fn searches_collect_and_page() {
    let mut client = connect(serve(agreeable));
    let found = client
        .search("dc=example", Scope::Subtree, "uid=*", &["uid", "jpegPhoto"])
        .unwrap();
    assert_eq!(found.entries.len(), 25);
    assert_eq!(found.references, ["ldap://elsewhere/dc=other"]);
    assert_eq!(found.entries[3].dn, "uid=u3,dc=example");
    assert_eq!(found.entries[3].first("UID").as_deref(), Some("u3"));
    assert_eq!(found.entries[24].values("jpegPhoto")[0].len(), 24 * 700);
    assert!(matches!(
        client.search("", Scope::Base, "(uid=", &[]),
        Err(ClientError::Filter(_))
    ));

    let request = SearchRequest::new("dc=example", Scope::Subtree, Filter::present("uid"));
    let mut pages = Vec::new();
    let result = client
        .search_paged(&request, 10, |page| pages.push(page.len()))
        .unwrap();
    assert!(result.is_success());
    assert_eq!(pages, [10, 10, 5]);

    let mut names = Vec::new();
    let end = client.search_each(&request, 10, &mut |entry| {
        names.push(entry.dn);
        Ok::<(), ClientError>(())
    });
    let end = end.unwrap();
    assert!(end.result.is_success());
    assert_eq!((names.len(), end.references.len()), (25, 3));
    // An error of the receiver of entries ends the search, and not the connection.
    let stopped = client.search_each(&request, 10, &mut |_| Err(ClientError::Closed));
    assert!(matches!(stopped, Err(ClientError::Closed)));
    assert_eq!(client.who_am_i().unwrap(), "dn:cn=ada");
}

#[test]
fn a_dropped_search_leaves_the_connection_usable() {
    let mut client = connect(serve(agreeable));
    let request = SearchRequest::new("dc=example", Scope::Subtree, Filter::present("uid"));
    let mut stream = client.search_stream(&request, &[]).unwrap();
    assert!(matches!(
        stream.next_message().unwrap().unwrap().response,
        Response::SearchEntry(_)
    ));
    drop(stream);
    assert_eq!(client.who_am_i().unwrap(), "dn:cn=ada");
}

#[test]
fn pipelined_requests_are_answered_by_id() {
    let client = connect(serve(agreeable));
    let (mut sender, mut receiver) = client.split();
    let request = SearchRequest::new("", Scope::Base, Filter::present("objectClass"));
    let sent: Vec<u32> = (0..500)
        .map(|_| sender.queue(&Request::Search(request.clone()), &[]))
        .collect();
    sender.flush().unwrap();
    let mut done = Vec::new();
    while done.len() < sent.len() {
        let message = receiver.receive().unwrap();
        if let Response::SearchDone(result) = &message.response {
            assert!(result.is_success());
            done.push(message.id);
        }
    }
    assert_eq!(done, sent);
    assert!(!receiver.is_ready());
}

#[test]
fn the_end_of_a_connection_has_a_reason() {
    let mut client = connect(serve(agreeable));
    client.send_raw(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    match client.receive() {
        Err(ClientError::Disconnected(result)) => assert_eq!(result.diagnostic, "this is not LDAP"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(client.receive(), Err(ClientError::Closed)));

    let silent = connect(serve(|_, _| {}));
    silent
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let mut silent = silent;
    assert!(matches!(silent.bind("", b""), Err(ClientError::Timeout)));
}
