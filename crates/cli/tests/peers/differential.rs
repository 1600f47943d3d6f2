//! The same data, questions and changes for Debian's slapd and for our server: the answers have to be equal.
//!
//! Entries are compared as sets, their values as sets, attribute names without case; result codes and matched names
//! exactly; diagnostics not at all. Attributes that no two servers can agree on are left out by name
//! ([`crate::compare::INCOMPARABLE`]). Whatever differs is printed in full before the test fails.

use fulgurite_client::Client;
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::compare::{Differences, ask, dump};
use crate::data::{self, Data};
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};
use crate::{queries, situations, updates};

/// The conversations with one server: who asks.
struct Clients {
    anonymous: Client,
    user: Client,
    root: Client,
}

impl Clients {
    fn connect(server: &Server) -> Self {
        let bound = |dn: &str, password: &str| {
            let mut client = Client::connect(server.address()).expect("connect");
            client
                .set_read_timeout(Some(PATIENCE))
                .expect("set a timeout");
            if !dn.is_empty() {
                let result = client.bind(dn, password.as_bytes()).expect("bind");
                assert!(
                    result.is_success(),
                    "{} binds as {dn}: {result:?}",
                    server.name()
                );
            }
            client
        };
        Self {
            anonymous: bound("", ""),
            user: bound(data::USER_DN, data::USER_PASSWORD),
            root: bound(ROOT_DN, ROOT_PASSWORD),
        }
    }

    fn of(&mut self, who: queries::Who) -> &mut Client {
        match who {
            queries::Who::Anonymous => &mut self.anonymous,
            queries::Who::User => &mut self.user,
            queries::Who::Root => &mut self.root,
        }
    }
}

#[test]
fn answers_equal_slapds() {
    let seed = seed("answers_equal_slapds", 2_849);
    let mut random = Random::new(seed);
    let scratch = Scratch::new("differential");
    let data = Data::make(&scratch, quick_or_long(2_000, 5_000), seed);
    let reference = Server::slapd(&scratch.join("slapd"), data.file());
    let ours = Server::tested(&scratch.join("ours"), data.file());
    let (mut theirs, mut mine) = (Clients::connect(&reference), Clients::connect(&ours));
    let mut differences = Differences::default();

    differences.note(
        "loaded data",
        &dump(&mut theirs.root),
        &dump(&mut mine.root),
    );
    for query in queries::fixed(&data).into_iter().chain(queries::random(
        &data,
        &mut random,
        quick_or_long(500, 20_000),
    )) {
        let expected = ask(theirs.of(query.who), &query);
        let got = ask(mine.of(query.who), &query);
        differences.note(&query.to_string(), &expected, &got);
    }
    let asked = differences.compared();

    for update in situations::fixed().into_iter().chain(updates::random(
        &data,
        &mut random,
        quick_or_long(60, 2_000),
    )) {
        let expected = update.apply(theirs.of(update.who));
        let got = update.apply(mine.of(update.who));
        differences.note(&update.to_string(), &expected, &got);
    }
    differences.note(
        "data after the updates",
        &dump(&mut theirs.root),
        &dump(&mut mine.root),
    );
    let changed = differences.compared() - asked;
    for query in queries::random(&data, &mut random, quick_or_long(200, 2_000)) {
        let expected = ask(theirs.of(query.who), &query);
        let got = ask(mine.of(query.who), &query);
        differences.note(&format!("after the updates: {query}"), &expected, &got);
    }
    println!(
        "{asked} questions and {changed} changes compared, then {} more",
        differences.compared() - asked - changed
    );
    differences.finish(&reference, &ours);
}
