//! The same data, questions and changes for Debian's slapd and for our server: the answers have to
//! be equal.
//!
//! Entries are compared as sets, and so are their values; attribute names without case. Result
//! codes and matched names are compared exactly, diagnostics not at all. Attributes that no two
//! servers can agree on are left out by name ([`crate::compare::INCOMPARABLE`]). The test prints
//! every difference in full before it fails.

use fulgurite_client::Client;
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

use crate::compare::{Answer, Differences, ask, dump};
use crate::data::{self, Data};
use crate::queries::{self, Query};
use crate::servers::{PATIENCE, ROOT_DN, ROOT_PASSWORD, Server};
use crate::situations;
use crate::updates::{self, Update};

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

    fn of(&mut self, who: queries::Requester) -> &mut Client {
        match who {
            queries::Requester::Anonymous => &mut self.anonymous,
            queries::Requester::User => &mut self.user,
            queries::Requester::Root => &mut self.root,
        }
    }
}

/// Both servers with the same data, and what was found to differ.
struct Pair {
    data: Data,
    theirs: Clients,
    mine: Clients,
    differences: Differences,
    reference: Server,
    ours: Server,
    /// The servers' files, removed last.
    _scratch: Scratch,
}

impl Pair {
    fn start(label: &str, users: u64, seed: u64) -> Self {
        let scratch = Scratch::new(label);
        let data = Data::make(&scratch, users, seed);
        let reference = Server::slapd(&scratch.join("slapd"), data.file());
        let ours = Server::tested(&scratch.join("ours"), data.file());
        let (theirs, mine) = (Clients::connect(&reference), Clients::connect(&ours));
        let differences = Differences::default();
        Self {
            data,
            theirs,
            mine,
            differences,
            reference,
            ours,
            _scratch: scratch,
        }
    }

    fn ask(&mut self, query: &Query) -> (Answer, Answer) {
        (
            ask(self.theirs.of(query.who), query),
            ask(self.mine.of(query.who), query),
        )
    }

    fn ask_all(&mut self, when: &str, queries: &[Query]) {
        for query in queries {
            let (expected, got) = self.ask(query);
            self.differences
                .note(&format!("{when}{query}"), &expected, &got);
        }
    }

    fn change(&mut self, update: &Update) -> (Answer, Answer) {
        (
            update.apply(self.theirs.of(update.who)),
            update.apply(self.mine.of(update.who)),
        )
    }

    fn change_all(&mut self, updates: &[Update]) {
        for update in updates {
            let (expected, got) = self.change(update);
            self.differences.note(&update.to_string(), &expected, &got);
        }
    }

    fn compare_everything(&mut self, when: &str) {
        let (expected, got) = (dump(&mut self.theirs.root), dump(&mut self.mine.root));
        self.differences.note(when, &expected, &got);
    }

    fn finish(self) {
        self.differences.finish(&self.reference, &self.ours);
    }
}

#[test]
fn answers_equal_slapds() {
    let seed = seed("answers_equal_slapds", 2_849);
    let mut random = Random::new(seed);
    let mut pair = Pair::start("differential", quick_or_long(2_000, 5_000), seed);

    pair.compare_everything("the loaded data");
    pair.ask_all("", &queries::fixed(&pair.data));
    let some = queries::random(&pair.data, &mut random, quick_or_long(500, 20_000));
    pair.ask_all("", &some);
    let asked = pair.differences.compared();

    pair.change_all(&situations::fixed());
    let some = updates::random(&pair.data, &mut random, quick_or_long(60, 2_000));
    pair.change_all(&some);
    pair.compare_everything("the data after the updates");
    let changed = pair.differences.compared() - asked;

    let some = queries::random(&pair.data, &mut random, quick_or_long(200, 2_000));
    pair.ask_all("after the updates: ", &some);
    println!(
        "{asked} questions and {changed} changes were compared, then {} questions more",
        some.len()
    );
    pair.finish();
}

#[test]
fn referrals_equal_slapds() {
    let mut pair = Pair::start("referrals", 20, 1);
    pair.ask_all("", &queries::referrals());
    pair.change_all(&situations::referrals());
    pair.finish();
}

/// Where we differ on purpose, so that a change on either side is noticed.
#[test]
fn deviations_are_as_documented() {
    let mut pair = Pair::start("deviations", 200, 1);
    if pair.ours.name() == pair.reference.name() {
        return;
    }
    for (query, reason) in queries::deviations() {
        let (expected, got) = pair.ask(&query);
        assert!(
            !got.matches(&expected),
            "{query}: now equal, although {reason}"
        );
    }
}
