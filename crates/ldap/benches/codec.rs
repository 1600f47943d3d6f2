//! How long the messages that matter take: `cargo bench -p fulgurite-ldap`.
//!
//! The best of several rounds is printed, as everything but the code itself only adds to it.

use std::hint::black_box;
use std::time::Instant;

use fulgurite_ldap::{
    FilterBuf, LdapResult, Limits, Message, Operation, Request, Scope, SearchRequest, encode,
};

const ROUNDS: usize = 20;
const REPEATS: u32 = 50_000;

fn main() {
    let attributes: [&[u8]; 3] = [b"cn", b"mail", b"uid"];
    for (name, filter) in [
        ("decode search (uid=x)", "(uid=user000123)"),
        (
            "decode search (&(x)(y))",
            "(&(objectClass=person)(uid=user000123))",
        ),
        ("decode search (cn=*x*)", "(cn=*user*)"),
    ] {
        let pdu = search(filter, &attributes);
        let limits = Limits::default();
        measure(name, || {
            black_box(Message::decode(black_box(&pdu), &limits)).is_ok()
        });
    }
    let mut out = Vec::with_capacity(1 << 16);
    measure("encode entry, 14 values", || {
        out.clear();
        entry(&mut out);
        black_box(&out).len() > 500
    });
    measure("encode search done", || {
        out.clear();
        encode::result(&mut out, 7, Operation::Search, &LdapResult::success(), &[]);
        !black_box(&out).is_empty()
    });
}

fn search(filter: &str, attributes: &[&[u8]]) -> Vec<u8> {
    let filter = FilterBuf::parse(filter).expect("a valid filter");
    let mut request = SearchRequest::new("dc=example,dc=com", Scope::Subtree, filter.filter());
    request.attributes = attributes.to_vec();
    let mut pdu = Vec::new();
    encode::request(&mut pdu, 7, &Request::Search(request), &[]);
    pdu
}

fn entry(out: &mut Vec<u8>) {
    let mut entry = encode::search_entry(out, 7, b"uid=user000123,ou=People,dc=example,dc=com");
    for number in 0..10 {
        entry.attribute(b"attribute");
        entry.value(black_box(b"some value of thirty bytes ok"));
        if number % 3 == 0 {
            entry.value(black_box(b"another value"));
        }
    }
    entry.finish(&[]);
}

fn measure(name: &str, mut once: impl FnMut() -> bool) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..REPEATS {
                assert!(once(), "{name} does not work");
            }
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    println!(
        "{name:28} {:7.1} ns",
        best.as_secs_f64() * 1e9 / f64::from(REPEATS)
    );
}
