//! Differences of stored passwords, explained by the rules that both servers follow.
//!
//! | | slapd | ours |
//! | --- | --- | --- |
//! | a delete that names one of several passwords | removes the first | removes the named one |
//! | a new password: `pwdHistory` gets | the first stored value | all stored values |
//! | a new one where there was none | the oldest kept one goes | nothing goes |
//! | a removal by the user under a policy | keeps nothing | keeps the removed one |
//! | a removal by others | keeps one more than the policy says | keeps as many |
//! | no policy that keeps passwords | all kept ones go | they stay |

use crate::conversation::Attributes;

use super::findings::Finding;
use super::hashes;

/// The entry of a server before and after an update.
pub(crate) struct Update<'u> {
    pub(crate) before: &'u Attributes,
    pub(crate) after: &'u Attributes,
}

/// The part of a request that is about passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Set,
    RemovalByUser,
    RemovalByOthers,
}

/// Explains the passwords that are kept, if each server has followed its rule. The policy keeps
/// `limit` passwords; there may be no policy.
pub(crate) fn history(
    theirs: &Update<'_>,
    ours: &Update<'_>,
    limit: Option<usize>,
    request: &str,
) -> Option<&'static str> {
    let change = Change::of(request, limit.is_some())?;
    let limit = limit.unwrap_or(0);
    let follow = kept(theirs.after) == theirs.kept_by_slapd(change, limit)
        && kept(ours.after) == ours.kept_by_us(limit);
    if !follow {
        return None;
    }
    Some(match (change, stored(theirs.before).len()) {
        (Change::RemovalByUser, _) => "pwdHistory: slapd keeps no password that a user removes",
        _ if limit == 0 => "pwdHistory: slapd drops all with a change if the policy keeps none",
        (Change::RemovalByOthers, _) => "pwdHistory: slapd drops none for one that others remove",
        (_, 0) => "pwdHistory: slapd makes room for a password that is not there",
        _ => "pwdHistory: of several passwords, slapd keeps the first",
    })
}

/// Explains the passwords after a delete that names one of several.
pub(crate) fn wrong_deletion(
    theirs: &Update<'_>,
    ours: &Update<'_>,
    request: &str,
) -> Option<&'static str> {
    let (before, theirs, ours) = (
        stored(ours.before),
        stored(theirs.after),
        stored(ours.after),
    );
    // A password may be there twice, behind two hashes.
    let only = |these: &[String], others: &[String]| -> Vec<String> {
        let mut others = others.to_vec();
        let is_more = |value: &&String| match others.iter().position(|other| other == *value) {
            Some(at) => {
                others.swap_remove(at);
                false
            }
            None => true,
        };
        these.iter().filter(is_more).cloned().collect()
    };
    let (only_theirs, only_ours) = (only(&theirs, &ours), only(&ours, &theirs));
    let ([spared], [first]) = (only_theirs.as_slice(), only_ours.as_slice()) else {
        return None;
    };
    let is_named = changes(request, "delete").any(|named| hashes::is_of(spared, named));
    (before.len() > 1 && is_named && before[0] == *first)
        .then_some("userPassword: of several passwords, slapd removes the first, not the named one")
}

/// Returns true if slapd adds the first of several passwords again, after a delete that names
/// another one.
pub(crate) fn is_added_again(entry: &Attributes, finding: &Finding) -> bool {
    let stored = stored(entry);
    let [first, others @ ..] = stored.as_slice() else {
        return false;
    };
    let has = |verb, password: &String| {
        changes(&finding.request, verb).any(|named| hashes::is_of(password, named))
    };
    finding.theirs.starts_with("0 ")
        && finding.ours == "20 modify/add: userPassword: value #0 already exists"
        && has("add", first)
        && others.iter().any(|other| has("delete", other))
}

impl Change {
    fn of(request: &str, has_policy: bool) -> Option<Change> {
        let sets = |verb| changes(request, verb).any(|values| values != "(none)");
        if request.contains(": extended password modify ") || sets("add") || sets("replace") {
            return Some(Change::Set);
        }
        changes(request, "delete")
            .chain(changes(request, "replace"))
            .next()?;
        // Without a policy, slapd takes all for administrators.
        Some(if request.starts_with("Session(") && has_policy {
            Change::RemovalByUser
        } else {
            Change::RemovalByOthers
        })
    }
}

impl Update<'_> {
    fn kept_by_slapd(&self, change: Change, limit: usize) -> Vec<String> {
        let mut kept = kept(self.before);
        let first = stored(self.before).into_iter().next();
        let newest = |kept: &mut Vec<String>, count: usize| {
            kept.drain(..kept.len().saturating_sub(count));
        };
        match change {
            Change::RemovalByUser => return kept,
            _ if limit == 0 => kept.clear(),
            Change::Set => newest(&mut kept, limit - 1),
            Change::RemovalByOthers => {}
        }
        kept.extend(first.filter(|_| limit > 0));
        kept
    }

    fn kept_by_us(&self, limit: usize) -> Vec<String> {
        let removed = self.before.get("userpassword").into_iter().flatten();
        let removed: Vec<Vec<u8>> = removed.cloned().collect();
        if limit == 0 || removed.is_empty() {
            return kept(self.before);
        }
        let mut kept = kept_with_times(self.before);
        let all = kept_with_times(self.after);
        let now = all.last().map(|(time, _)| time.clone()).unwrap_or_default();
        for password in removed {
            let newest = (now.clone(), password);
            kept.retain(|held| *held != newest);
            kept.push(newest);
        }
        let surplus = kept.len().saturating_sub(limit);
        kept.drain(..surplus);
        let names = kept.iter().map(|(_, password)| hashes::named(password));
        names.collect()
    }
}

/// Returns the names of the passwords that an entry keeps, the oldest first.
fn kept(entry: &Attributes) -> Vec<String> {
    let all = kept_with_times(entry).into_iter();
    all.map(|(_, password)| hashes::named(&password)).collect()
}

/// Returns times and stored values of kept passwords, the oldest first. Those of one second are in
/// order.
fn kept_with_times(entry: &Attributes) -> Vec<(Vec<u8>, Vec<u8>)> {
    let values = entry.get("pwdhistory").into_iter().flatten();
    let parts = values.map(|value| {
        let mut parts = value.splitn(4, |byte| *byte == b'#');
        let time = parts.next().unwrap_or_default();
        let password = parts.nth(2).unwrap_or_default();
        (time.to_vec(), password.to_vec())
    });
    let mut kept: Vec<(Vec<u8>, Vec<u8>)> = parts.collect();
    kept.sort_by(|(time, _), (other, _)| time.cmp(other));
    kept
}

/// Returns the names of the stored passwords.
fn stored(entry: &Attributes) -> Vec<String> {
    let values = entry.get("userpassword").into_iter().flatten();
    values.map(|value| hashes::named(value)).collect()
}

/// Returns the values of the changes of passwords, as the request shows them.
fn changes<'r>(request: &'r str, verb: &'r str) -> impl Iterator<Item = &'r str> {
    let lines = request.lines().map(str::trim_start);
    let changes = lines.filter_map(move |line| line.strip_prefix(verb));
    changes.filter_map(|change| change.strip_prefix(" userPassword: "))
}

#[test]
fn each_server_follows_its_rule() {
    let entry = |passwords: &[&str], kept: &[&str]| {
        let mut entry = Attributes::new();
        for (name, values) in [("userpassword", passwords), ("pwdhistory", kept)] {
            let values = values.iter().map(|value| value.as_bytes().to_vec());
            entry.insert(name.to_owned(), values.collect());
        }
        entry
    };
    let explained = |theirs: &[&str], ours: &[&str], limit, request| {
        let before = entry(&["a", "b"], &["2#o#1#y", "1#o#1#x"]);
        let (theirs, ours) = (entry(&["c"], theirs), entry(&["c"], ours));
        let update = |after| Update {
            before: &before,
            after,
        };
        history(&update(&theirs), &update(&ours), Some(limit), request).is_some()
    };
    let set = "Root: modify \"uid=p\"\n    replace userPassword: c";
    let (first, both) = (["2#o#1#y", "3#o#1#a"], ["3#o#1#a", "3#o#1#b"]);
    assert!(explained(&first, &both, 2, set));
    assert!(!explained(&both, &first, 2, set));
    assert!(!explained(&first, &both, 3, set));
    assert!(explained(&[], &["1#o#1#x", "2#o#1#y"], 0, set));
    let removal = "Session(1): modify \"uid=p\"\n    delete userPassword: (none)";
    assert!(explained(&["1#o#1#x", "2#o#1#y"], &both, 2, removal));
    assert!(!explained(&first, &both, 2, removal));
    let before = entry(&["a", "b"], &[]);
    let (theirs, ours) = (entry(&["b", "c"], &[]), entry(&["a", "c"], &[]));
    let update = |after| Update {
        before: &before,
        after,
    };
    let is_explained = |request| wrong_deletion(&update(&theirs), &update(&ours), request);
    assert!(is_explained("\n    delete userPassword: b\n    add userPassword: c").is_some());
    assert!(is_explained("\n    delete userPassword: a\n    add userPassword: c").is_none());
    // The new password is the first of the old ones.
    let (theirs, ours) = (entry(&["b", "a"], &[]), entry(&["a", "a"], &[]));
    let request = "\n    delete userPassword: b\n    add userPassword: a";
    assert!(wrong_deletion(&update(&theirs), &update(&ours), request).is_some());
}
