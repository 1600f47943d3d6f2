//! Nobody finds out about what is hidden from him: two directories that differ in hidden things
//! only answer alike.
//!
//! ```text
//!   open:   what the asker may know of                          \   the same random requests of every kind,
//!   full:   the same, with entries, attributes and values         >  bytes compared
//!           that the rules hide from the asker                  /
//! ```
//! A difference must be one that `docs/access.md` lists, as [`Judge::exception`] does. Then both
//! begin anew.

mod requests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::{BindStep, Entropy, ExtendedStep, Progress, Quantum, Scheme, Session};
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{LdapResult, Request, ResponseMessage, ResultCode, frame, oid};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::support::{World, decode, write_request};
use requests::{Generator, Sent};

const EPISODES: usize = 12;
const EPISODES_LONG: usize = 4000;
const REQUESTS: usize = 120;

/// The entries that the requester may know of. Lines that begin with `!` are hidden from him,
/// entries whose `dn` line does so as a whole.
const DATA: &str = include_str!("data.txt");

/// The rules. Names with `secret` in them are hidden, and so are entries that say so themselves.
const RULES: [&str; 8] = [
    "to attrs=userPassword by self =w by anonymous auth by * none",
    "to attrs=employeeNumber by * none",
    r#"to attrs=description val.regex="^secret" by * none"#,
    r#"to dn.regex="=secret" by * none"#,
    "to filter=\"(destinationIndicator=hidden)\" by * none",
    r#"to dn.subtree="ou=closed,dc=example,dc=com" by * read"#,
    r#"to dn.subtree="ou=work,dc=example,dc=com" by users write by * read"#,
    "to * by * read",
];

/// Counts from where it is set.
#[derive(Default)]
struct Counter(AtomicU64);

impl Entropy for Counter {
    fn random(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// The directory with hidden things or without.
struct Side {
    world: World,
    is_full: bool,
}

impl Side {
    fn new(is_full: bool) -> Side {
        let counter = Arc::new(Counter::default());
        let entropy = Arc::clone(&counter);
        let world = World::empty(|options| {
            options.access = RULES.iter().map(|&rule| rule.into()).collect();
            options.auth.password_hash = vec![Scheme::Sha];
            options.auth.authz_policy = fulgurite_directory::AuthzPolicy::To;
            options.entropy = entropy;
        });
        let (mut shown, mut hidden) = (String::new(), String::new());
        for record in DATA.split("\n\n") {
            if record.starts_with('!') {
                hidden += &record.replace('!', "");
                hidden += "\n\n";
                continue;
            }
            for line in record.lines() {
                match line.strip_prefix('!') {
                    None => shown += line,
                    Some(line) if is_full => shown += line,
                    Some(_) => continue,
                }
                shown.push('\n');
            }
            shown.push('\n');
        }
        world.load(&shown);
        if is_full {
            world.load(&hidden);
        }
        // From here on both count alike.
        counter.0.store(1 << 32, Ordering::Relaxed);
        world.clock.sleep_s(60);
        Side { world, is_full }
    }

    /// The bytes of the answer without cookies, the cookie, and the result.
    fn ask(&self, sent: &Sent, session: &Session) -> Answer {
        self.world.clock.sleep_s(1);
        let mut session = session.clone();
        let message = decode(&sent.pdu);
        let directory = &self.world.directory;
        let mut out = Vec::new();
        match &message.request {
            Request::Search(request) => {
                let mut task =
                    directory.begin_search(&session, message.id, request, &message.controls);
                while task.advance(&mut out, Quantum::default()) == Progress::More {}
            }
            Request::Compare(request) => {
                let result = directory.compare(&session, request, &message.controls);
                let operation = message.request.operation();
                fulgurite_ldap::encode::result(&mut out, message.id, operation, &result, &[]);
            }
            Request::Bind(request) => {
                let outcome = match directory.begin_bind(&mut session, request, &message.controls) {
                    BindStep::Done(outcome) => outcome,
                    BindStep::Check(check) => check.run(directory),
                };
                outcome.finish(&mut session, message.id, &mut out);
            }
            Request::Extended(request) => {
                let step = directory.extended(&mut session, message.id, request, &message.controls);
                let refused = |result: LdapResult, out: &mut Vec<u8>| {
                    fulgurite_ldap::encode::extended_result(out, 7, &result, None, None, &[]);
                };
                let update = match step {
                    ExtendedStep::Done(reply) => {
                        reply.encode(message.id, &mut out);
                        None
                    }
                    ExtendedStep::Passwords(change) => match change.run() {
                        Ok(update) => Some(update),
                        Err(result) => {
                            refused(result, &mut out);
                            None
                        }
                    },
                    ExtendedStep::Update(update) => Some(update),
                    ExtendedStep::Cancel(_) => None,
                };
                if let Some(update) = update {
                    out = directory.apply(&[update]).remove(0).bytes;
                }
            }
            _ => {
                let update = write_request(&session, &sent.pdu);
                out = directory.apply(&[update]).remove(0).bytes;
            }
        }
        Answer::of(out)
    }
}

/// An answer in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    bytes: Vec<u8>,
    cookie: Vec<u8>,
    result: Option<LdapResult>,
}

impl Answer {
    fn of(mut bytes: Vec<u8>) -> Answer {
        let mut at = 0;
        let (mut cookie, mut result) = (Vec::new(), None);
        while let Ok(Some(len)) = frame(&bytes[at..], usize::MAX) {
            let message = ResponseMessage::decode(&bytes[at..at + len]).expect("a response");
            result = match &message.response {
                fulgurite_ldap::Response::Bind { result, .. }
                | fulgurite_ldap::Response::Extended { result, .. } => Some(result.clone()),
                other => other.result().cloned(),
            };
            if let Some(control) = message.controls.find(oid::PAGED_RESULTS) {
                let page = PagedResults::decode(control.value.expect("a value"));
                cookie = page.expect("a page").cookie.to_vec();
            }
            at += len;
        }
        // Of the cookie, which is enciphered, the length counts.
        if !cookie.is_empty() {
            let start = bytes
                .windows(cookie.len())
                .rposition(|part| part == cookie)
                .expect("the cookie is in the answer");
            bytes[start..start + cookie.len()].fill(0);
        }
        Answer {
            bytes,
            cookie,
            result,
        }
    }

    fn code(&self) -> ResultCode {
        self.result
            .as_ref()
            .map_or(ResultCode::Other, |result| result.code)
    }
}

/// The permitted differences of two answers.
struct Judge<'j> {
    sent: &'j Sent,
    open: &'j Answer,
    full: &'j Answer,
}

impl Judge<'_> {
    /// The exceptions of `docs/access.md`: updates that the requester may do and that hidden data
    /// prevent.
    fn exception(&self) -> bool {
        let message = decode(&self.sent.pdu);
        // The right to delete a whole attribute covers hidden values.
        if let Request::Modify(request) = &message.request
            && let [change] = &request.changes[..]
            && change.attribute.values.iter().next().is_none()
        {
            let done = [ResultCode::Success, ResultCode::NoOperation];
            return self.open.code() == ResultCode::NoSuchAttribute
                && done.contains(&self.full.code());
        }
        let refused = match message.request {
            // The name is taken.
            Request::Add(_) => [ResultCode::EntryAlreadyExists].as_slice(),
            // The name is taken; or hidden values do not fit the new one.
            Request::ModifyDn(_) => &[
                ResultCode::EntryAlreadyExists,
                ResultCode::ObjectClassViolation,
            ],
            // There is something below, which may not be deleted with it.
            Request::Delete(_) => &[
                ResultCode::NotAllowedOnNonLeaf,
                ResultCode::InsufficientAccessRights,
            ],
            // The hidden values do not fit the changes.
            Request::Modify(_) => &[ResultCode::ObjectClassViolation],
            _ => return false,
        };
        let may = [ResultCode::Success, ResultCode::NoOperation];
        may.contains(&self.open.code()) && refused.contains(&self.full.code())
    }
}

#[test]
fn hidden_entries_do_not_change_any_answer() {
    let first = seed("hidden", 20_261_121);
    let (mut asked, mut exceptions, mut codes) = (0, 0, std::collections::BTreeMap::new());
    for episode in 0..quick_or_long(EPISODES, EPISODES_LONG) as u64 {
        let mut random = Random::new(first.wrapping_add(episode));
        let [open, full] = [false, true].map(Side::new);
        assert!(full.is_full && !open.is_full);
        let sessions = [&open, &full].map(|side| {
            ["", requests::JANE, requests::BOB].map(|dn| match dn {
                "" => Session::new(),
                dn => side.world.user(dn),
            })
        });
        let mut pages: Option<(Sent, usize, [Vec<u8>; 2])> = None;
        for _ in 0..REQUESTS {
            let (sent, who, cookies) = pages.take().unwrap_or_else(|| {
                let sent = Generator(&mut random).request();
                (sent, random.below(3), Default::default())
            });
            let answers: Vec<Answer> = [&open, &full]
                .iter()
                .zip(&sessions)
                .zip(&cookies)
                .map(|((side, sessions), cookie)| {
                    side.ask(&sent.with_cookie(cookie), &sessions[who])
                })
                .collect();
            let [open, full] = &answers[..] else {
                unreachable!("two were asked")
            };
            asked += 1;
            *codes.entry(open.code().number()).or_insert(0) += 1;
            if open.bytes != full.bytes || open.cookie.len() != full.cookie.len() {
                let judge = Judge {
                    sent: &sent,
                    open,
                    full,
                };
                assert!(
                    judge.exception(),
                    "episode {}: asker {who}: {}\n  open {:?}\n  full {:?}\n  open {}\n  full {}",
                    first.wrapping_add(episode),
                    sent.text,
                    open.result,
                    full.result,
                    open.bytes.escape_ascii(),
                    full.bytes.escape_ascii(),
                );
                exceptions += 1;
                break;
            }
            if !open.cookie.is_empty() {
                pages = Some((sent, who, [open.cookie.clone(), full.cookie.clone()]));
            }
        }
    }
    println!("{asked} requests, {exceptions} exceptions, codes {codes:?}");
    assert!(codes.len() > 8, "{codes:?}");
    assert!(codes[&0] * 6 > asked, "few succeed: {codes:?}");
    assert!(exceptions * 20 < asked, "{exceptions} of {asked}");
}
