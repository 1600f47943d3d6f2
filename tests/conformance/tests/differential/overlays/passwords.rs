//! Requests about passwords and their policies. Time passes by moving the times in an entry back,
//! so that no history waits.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_testkit::Random;

use crate::ber::{group, integer, octets, sequence, tlv};
use crate::controls::fixed;
use crate::conversation::Attributes;
use crate::requests::{Request, Requester};

use super::explained::States;
use super::findings::{Finding, earlier};
use super::hashes::{HASHED, PASSWORDS, SECOND};
use super::requests::{
    ADD, Change, DELETE, REPLACE, add, delete, everything, modify, request, search,
};
use super::worlds::World;

const POLICY_CONTROL: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
const RELAX: &str = "1.3.6.1.4.1.4203.666.5.12";
/// Attributes of an entry that have times, but for the one that nobody may write.
const TIMES: [&str; 6] = [
    "pwdChangedTime",
    "pwdFailureTime",
    "pwdAccountLockedTime",
    "pwdGraceUseTime",
    "pwdHistory",
    "pwdEndTime",
];
/// Rules of policies, and their values. Durations, and their sums and differences, are 40 seconds
/// above a sum of [`AGES`] at least. So a slow machine reaches none of them.
const RULES: [(&str, &[&str]); 16] = [
    ("pwdMinAge", &["0", "600"]),
    ("pwdMaxAge", &["1000", "3420"]),
    ("pwdInHistory", &["1", "2", "3"]),
    ("pwdCheckQuality", &["0", "1", "2", "2"]),
    ("pwdMinLength", &["4", "7"]),
    ("pwdMaxLength", &["8"]),
    ("pwdExpireWarning", &["900"]),
    ("pwdGraceAuthNLimit", &["1", "2"]),
    ("pwdGraceExpiry", &["600"]),
    ("pwdLockout", &["TRUE", "TRUE", "FALSE"]),
    ("pwdLockoutDuration", &["0", "600"]),
    ("pwdMaxFailure", &["1", "2", "3"]),
    ("pwdFailureCountInterval", &["600"]),
    ("pwdMustChange", &["TRUE", "FALSE"]),
    ("pwdSafeModify", &["TRUE", "FALSE"]),
    ("pwdMaxRecordedFailure", &["1", "2", "4"]),
];
/// Seconds by which the times of an entry are moved back.
const AGES: [i64; 4] = [457, 703, 1511, 6007];
/// Users and policies at the beginning.
const USERS: usize = 3;
const POLICIES: [&str; 3] = ["default", "one", "two"];
const INVALID_CREDENTIALS: u32 = 49;
/// Connections of users.
const SESSIONS: u8 = 3;

/// A request with its meaning for later ones.
pub(crate) struct Ask {
    pub(crate) request: Request,
    /// The request to our server if it differs: times that it set itself.
    pub(crate) ours: Option<Request>,
    /// The password of an entry, if the request succeeds.
    sets: Option<(String, String)>,
    /// The identity of a session, if the request succeeds.
    binds: Option<(u8, String)>,
}

impl Ask {
    pub(crate) fn of(request: Request) -> Ask {
        Ask {
            request,
            ours: None,
            sets: None,
            binds: None,
        }
    }

    fn setting(mut self, dn: &str, password: &str) -> Ask {
        self.sets = Some((dn.to_owned(), password.to_owned()));
        self
    }
}

/// The memory of a history: passwords of entries, and identities of sessions.
#[derive(Default)]
pub(crate) struct Passwords {
    known: BTreeMap<String, String>,
    sessions: BTreeMap<u8, String>,
    /// Sessions whose last bind was refused.
    refused: BTreeSet<u8>,
}

impl Passwords {
    /// Notes the effects of a request that succeeded.
    pub(crate) fn learn(&mut self, ask: &Ask) {
        self.known.extend(ask.sets.clone());
        self.sessions.extend(ask.binds.clone());
    }

    /// Notes the outcome of a bind.
    pub(crate) fn note_bind(&mut self, ask: &Ask, code: Option<u32>) {
        if let Some((session, _)) = ask.binds {
            match code {
                Some(INVALID_CREDENTIALS) => self.refused.insert(session),
                _ => self.refused.remove(&session),
            };
        }
    }

    /// Explains a session that is anonymous after a refused bind. In slapd it keeps the name if the
    /// password has expired.
    pub(crate) fn anonymous(&self, finding: &Finding) -> Option<&'static str> {
        let (session, _) = finding.request.strip_prefix("Session(")?.split_once(')')?;
        let is_refused = self.refused.contains(&session.parse::<u8>().ok()?);
        let is_anonymous = match (finding.operation, finding.what.as_str()) {
            ("modify" | "extended", "code") => finding.ours.starts_with("8 "),
            ("compare", "code") => finding.ours.starts_with("50 "),
            ("extended", "value") => finding.ours == "Some([])",
            _ => false,
        };
        (is_refused && is_anonymous)
            .then_some("bind: under an expired password it leaves slapd's connection to the name")
    }

    /// The adds of policies and users.
    pub(crate) fn first_requests(&mut self, world: &World, random: &mut Random) -> Vec<Request> {
        let suffix = world.suffix();
        let mut requests = Vec::new();
        for name in POLICIES {
            let mut entry = vec![
                texts("objectClass", &["device", "pwdPolicy"]),
                texts("cn", &[name]),
                texts("pwdAttribute", &["userPassword"]),
            ];
            for (rule, values) in RULES {
                if random.chance(45) {
                    entry.push(texts(rule, &[*random.pick(values)]));
                }
            }
            let dn = format!("cn={name},ou=other,{suffix}");
            requests.push(add(Requester::Root, &dn, &entry));
        }
        for number in 0..USERS {
            let dn = format!("uid=p{number},ou=people,{suffix}");
            self.known.insert(dn.clone(), PASSWORDS[0].to_owned());
            let policy = POLICIES[number % POLICIES.len()];
            let mut entry = person(number, Some(PASSWORDS[0]));
            if policy != "default" {
                let policy = format!("cn={policy},ou=other,{suffix}");
                entry.push(texts("pwdPolicySubentry", &[policy.as_str()]));
            }
            requests.push(add(Requester::Root, &dn, &entry));
        }
        requests
    }

    /// The next request about passwords.
    pub(crate) fn ask(&mut self, world: &World, states: &States, random: &mut Random) -> Ask {
        let users: Vec<String> = states
            .theirs
            .keys()
            .filter(|dn| dn.starts_with("uid=") && dn.contains(",ou="))
            .cloned()
            .collect();
        let number = random.below(6);
        let new = format!("uid=p{number},ou=people,{}", world.suffix());
        let mut choice = Choice {
            world,
            states,
            user: if users.is_empty() {
                new.clone()
            } else {
                random.pick(&users).clone()
            },
            session: random.below(usize::from(SESSIONS)) as u8,
            random,
            passwords: self,
        };
        let mut ask = match choice.random.below(100) {
            0..=27 => choice.bind(),
            28..=47 => choice.own_change(),
            48..=55 => choice.password_modify(),
            56..=67 => choice.others_change(),
            68..=79 => choice.age(),
            80..=84 => choice.state(),
            85..=88 => choice.policy(),
            89..=94 => choice.restricted(),
            95..=96 => Ask::of(delete(Requester::Root, &choice.user)),
            _ => choice.add(number, &new),
        };
        if ask.request.operation != "search" && random.chance(75) {
            ask.request
                .controls
                .push(fixed(POLICY_CONTROL, false, None));
        }
        ask
    }
}

/// A random choice of a request.
struct Choice<'c> {
    world: &'c World,
    states: &'c States,
    random: &'c mut Random,
    passwords: &'c Passwords,
    user: String,
    session: u8,
}

impl Choice<'_> {
    fn requester(&self) -> Requester {
        Requester::Session(self.session)
    }

    fn known(&self, dn: &str) -> String {
        self.passwords
            .known
            .get(dn)
            .cloned()
            .unwrap_or_else(|| "secret".to_owned())
    }

    /// The password of an entry, or mostly another one.
    fn guess(&mut self, dn: &str, right: usize) -> String {
        if self.random.chance(right) {
            self.known(dn)
        } else {
            (*self.random.pick(&PASSWORDS)).to_owned()
        }
    }

    fn new_password(&mut self) -> String {
        match self.random.below(16) {
            0 => HASHED.to_owned(),
            _ => (*self.random.pick(&PASSWORDS)).to_owned(),
        }
    }

    fn bind(&mut self) -> Ask {
        let dn = match self.random.below(16) {
            0 => String::new(),
            1 => format!("uid=missing,ou=people,{}", self.world.suffix()),
            _ => self.user.clone(),
        };
        let password = if dn.is_empty() {
            String::new()
        } else {
            self.guess(&dn, 60)
        };
        let parts = [integer(3), octets(&dn), tlv(0x80, password.as_bytes())];
        let text = format!("{dn:?} {password:?}");
        let mut ask = Ask::of(request(self.requester(), "bind", text, group(0x60, &parts)));
        ask.binds = Some((self.session, dn));
        ask
    }

    /// A user changes a password, mostly the own one.
    fn own_change(&mut self) -> Ask {
        let own = self
            .passwords
            .sessions
            .get(&self.session)
            .cloned()
            .unwrap_or_default();
        let dn = if own.is_empty() || self.random.chance(8) {
            self.user.clone()
        } else {
            own
        };
        let new = self.new_password();
        let password = |operation, value: &str| -> Change {
            (operation, "userPassword".to_owned(), some(value))
        };
        let old = self.guess(&dn, 75);
        let mut changes = match self.random.below(10) {
            0..=3 => vec![password(DELETE, &old), password(ADD, &new)],
            4 => vec![password(DELETE, ""), password(ADD, &new)],
            5 => vec![password(ADD, &new)],
            6 if self.random.chance(30) => vec![password(DELETE, "")],
            _ => vec![password(REPLACE, &new)],
        };
        if self.random.chance(6) {
            changes.push((REPLACE, "title".to_owned(), vec!["one".to_owned()]));
        }
        if self.random.chance(3) {
            changes[0].2.push(SECOND.to_owned());
        }
        Ask::of(modify(self.requester(), &dn, &changes)).setting(&dn, &new)
    }

    fn password_modify(&mut self) -> Ask {
        let own = self
            .passwords
            .sessions
            .get(&self.session)
            .cloned()
            .unwrap_or_default();
        let mut parts = Vec::new();
        let mut dn = own;
        if self.random.chance(40) {
            dn.clone_from(&self.user);
            parts.push(tlv(0x80, dn.as_bytes()));
        }
        let (old, new) = (self.guess(&dn, 80), self.new_password());
        if self.random.chance(55) {
            parts.push(tlv(0x81, old.as_bytes()));
        }
        parts.push(tlv(0x82, new.as_bytes()));
        let content = sequence(&parts);
        let text = format!("password modify {}", content.escape_ascii());
        let body = [tlv(0x80, b"1.3.6.1.4.1.4203.1.11.1"), tlv(0x81, &content)];
        let who = match self.random.below(8) {
            0 => Requester::Root,
            1 => Requester::User,
            _ => self.requester(),
        };
        Ask::of(request(who, "extended", text, group(0x77, &body))).setting(&dn, &new)
    }

    /// The root, or an administrator of passwords, changes a password.
    fn others_change(&mut self) -> Ask {
        let who = [Requester::Root, Requester::User][self.random.below(2)];
        let new = self.new_password();
        let mut values = vec![new.clone()];
        let mut changes = Vec::new();
        let mut verb = REPLACE;
        match self.random.below(14) {
            0 => values.push(SECOND.to_owned()),
            1 => values.clear(),
            2 => changes.push((REPLACE, "pwdReset".to_owned(), vec!["TRUE".to_owned()])),
            3 => {
                values.clear();
                verb = DELETE;
            }
            _ => {}
        }
        changes.push((verb, "userPassword".to_owned(), values));
        Ask::of(modify(who, &self.user, &changes)).setting(&self.user, &new)
    }

    /// Moves the times of an entry back. Each server has its own times.
    fn age(&mut self) -> Ask {
        let by = *self.random.pick(&AGES);
        let none = Attributes::new();
        let aged = |entry: Option<&Attributes>| {
            let entry = entry.unwrap_or(&none);
            let mut changes: Vec<Change> = Vec::new();
            for name in TIMES {
                let values = entry.get(&name.to_lowercase()).into_iter().flatten();
                let values = values.map(|value| earlier(&String::from_utf8_lossy(value), by));
                let values: Vec<String> = values.collect();
                if !values.is_empty() {
                    changes.push((REPLACE, name.to_owned(), values));
                }
            }
            if changes.is_empty() {
                changes.push((REPLACE, "title".to_owned(), vec!["aged".to_owned()]));
            }
            let mut request = modify(Requester::Root, &self.user, &changes);
            request.controls.push(fixed(RELAX, true, None));
            request
        };
        let mut ask = Ask::of(aged(self.states.theirs.get(&self.user)));
        ask.ours = Some(aged(self.states.ours.get(&self.user)));
        ask
    }

    /// Changes the state of an entry as administrators do.
    fn state(&mut self) -> Ask {
        let suffix = self.world.suffix();
        let policy = format!("cn={},ou=other,{suffix}", self.random.pick(&POLICIES));
        let (name, value) = match self.random.below(12) {
            0 | 1 => ("pwdAccountLockedTime", ""),
            2 => ("pwdAccountLockedTime", "000001010000Z"),
            3 => ("pwdReset", "TRUE"),
            4 => ("pwdReset", ""),
            5 => ("pwdPolicySubentry", ""),
            6 => ("pwdPolicySubentry", policy.as_str()),
            7 => ("pwdPolicySubentry", "cn=missing"),
            8 => ("pwdStartTime", "20400101000000Z"),
            9 => ("pwdEndTime", "20200101000000Z"),
            10 => ("pwdStartTime", ""),
            _ => ("pwdEndTime", ""),
        };
        let changes = [(REPLACE, name.to_owned(), some(value))];
        let who = if self.random.chance(20) {
            self.requester()
        } else {
            Requester::Root
        };
        Ask::of(modify(who, &self.user, &changes))
    }

    fn policy(&mut self) -> Ask {
        let name = *self.random.pick(&POLICIES);
        let dn = format!("cn={name},ou=other,{}", self.world.suffix());
        if self.random.chance(4) {
            return Ask::of(delete(Requester::Root, &dn));
        }
        let (rule, values) = *self.random.pick(&RULES);
        let values = if self.random.chance(25) {
            Vec::new()
        } else {
            vec![(*self.random.pick(values)).to_owned()]
        };
        Ask::of(modify(
            Requester::Root,
            &dn,
            &[(REPLACE, rule.to_owned(), values)],
        ))
    }

    /// A request that a pending reset forbids, or not.
    fn restricted(&mut self) -> Ask {
        let who = self.requester();
        Ask::of(match self.random.below(5) {
            0 => {
                let body = [tlv(0x80, b"1.3.6.1.4.1.4203.1.11.3")];
                request(who, "extended", "who am I".to_owned(), group(0x77, &body))
            }
            1 => {
                let guess = self.guess(&self.user.clone(), 70);
                let assertion = sequence(&[octets("userPassword"), octets(&guess)]);
                let text = format!("{:?} userPassword={guess}", self.user);
                request(
                    who,
                    "compare",
                    text,
                    group(0x6e, &[octets(&self.user), assertion]),
                )
            }
            2 => modify(
                who,
                &self.user,
                &[(REPLACE, "title".to_owned(), vec!["two".to_owned()])],
            ),
            3 => search(who, "", 0, everything(), &["1.1"]),
            _ => search(who, &self.user, 0, everything(), &["uid", "pwdReset"]),
        })
    }

    fn add(&mut self, number: usize, dn: &str) -> Ask {
        let new = self.new_password();
        let mut entry = person(number, self.random.chance(85).then_some(new.as_str()));
        match self.random.below(8) {
            0 => entry.push(texts("pwdReset", &["TRUE"])),
            1 => entry
                .last_mut()
                .expect("attributes")
                .1
                .push(SECOND.to_owned()),
            _ => {}
        }
        let who = [Requester::Root, Requester::User][self.random.below(2)];
        Ask::of(add(who, dn, &entry)).setting(dn, &new)
    }
}

/// A value, or none instead of an empty one.
fn some(value: &str) -> Vec<String> {
    if value.is_empty() {
        Vec::new()
    } else {
        vec![value.to_owned()]
    }
}

fn person(number: usize, password: Option<&str>) -> Vec<(String, Vec<String>)> {
    let mut entry = vec![
        texts("objectClass", &["inetOrgPerson"]),
        texts("uid", &[format!("p{number}").as_str()]),
        texts("cn", &["C"]),
        texts("sn", &["S"]),
    ];
    entry.extend(password.map(|password| texts("userPassword", &[password])));
    entry
}

fn texts(name: &str, values: &[&str]) -> (String, Vec<String>) {
    (
        name.to_owned(),
        values.iter().map(|value| (*value).to_owned()).collect(),
    )
}
