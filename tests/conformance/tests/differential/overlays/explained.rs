//! Differences that are meant, and that the stored entries of both servers explain.

use std::collections::{BTreeMap, BTreeSet};

use crate::conversation::Attributes;
use crate::servers::ROOT_DN;

use super::broken_rules;
use super::findings::{Entries, Finding, seconds};
use super::kept_passwords::{self, Update};
use super::references;
use super::shown;
use super::weights;
use super::worlds::World;

/// The stored entries of both servers after the last update.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) theirs: Entries,
    pub(crate) ours: Entries,
    /// The same before that update.
    pub(crate) theirs_before: Entries,
    pub(crate) ours_before: Entries,
    /// Groups with a URL whose base is above the database, and the groups of each as slapd shows
    /// them. All names are in normal form.
    pub(crate) above: BTreeMap<String, BTreeSet<String>>,
}

impl States {
    /// Returns the names of groups with a URL whose base is above the database.
    pub(crate) fn groups_above(&self) -> Vec<String> {
        let is_above = |entry: &Attributes| {
            let mut urls = entry.get("memberurl").into_iter().flatten();
            urls.any(|url| url.starts_with(b"ldap:///?"))
        };
        let above = self.ours.iter().filter(|(_, entry)| is_above(entry));
        above.map(|(name, _)| name.clone()).collect()
    }
}

/// Returns the reason of a difference, if the entries explain it.
pub(crate) fn explanation(
    world: &World,
    states: &States,
    finding: &Finding,
) -> Option<&'static str> {
    if world.has("memberof")
        && let Some(reason) = membership(states, finding)
    {
        return Some(reason);
    }
    if finding.operation == "bind" && ["code", "controls"].contains(&finding.what.as_str()) {
        return reset(states, finding);
    }
    if ["modify", "extended"].contains(&finding.operation)
        && finding.what == "code"
        && let Some(reason) = changed_password(states, finding)
    {
        return Some(reason);
    }
    if world.has("dynlist") && finding.operation == "search" {
        return dynamic(states, finding);
    }
    if world.name == "valsort" {
        return weights::explanation(finding);
    }
    if world.has("constraint") && finding.theirs.contains("breaks constraint on ") {
        return broken_rules::explanation(states, finding);
    }
    if finding.operation != "contents" {
        return None;
    }
    match finding.what.as_str() {
        "attribute pwdhistory" | "attribute userpassword" => passwords(world, states, finding),
        "attribute pwdfailuretime" => failures(world, states, finding),
        "attribute pwdgraceusetime" => grace(states, finding),
        "attribute modifiersname" => author(world, states, finding),
        what if what.starts_with("attribute ") => below(world, states, finding),
        what if what.starts_with("order ") => order_of_followers(finding),
        _ => None,
    }
}

/// Explains a difference of memberships, if our side is right and slapd's is not.
fn membership(states: &States, finding: &Finding) -> Option<&'static str> {
    let right = groups_of(&finding.dn, &states.ours);
    match finding.what.as_str() {
        "attribute memberof" => (names_in(&finding.ours) == right
            && names_in(&finding.theirs) != right)
            .then_some("memberOf: slapd keeps or misses groups of renamed and later entries"),
        "entry" if finding.operation == "search" && finding.request.contains("(memberOf=") => {
            let theirs = memberships(&finding.dn, &states.theirs);
            let ours = memberships(&finding.dn, &states.ours);
            (theirs != ours && ours == right).then_some("filters about memberOf: the same")
        }
        "code" if finding.operation == "compare" => compared_membership(states, finding),
        _ => None,
    }
}

/// Explains a compare of memberOf. Our answer follows from the groups, slapd's from other
/// memberships, which it has stored.
fn compared_membership(states: &States, finding: &Finding) -> Option<&'static str> {
    let mut parts = finding.request.split('"').skip(1);
    let (dn, item) = (parts.next()?, parts.next()?);
    let value = normal(item.lines().next()?.trim().strip_prefix("memberOf=")?);
    let answer = |groups: &BTreeSet<String>| match (groups.contains(&value), groups.is_empty()) {
        (true, _) => "6 ",
        (false, false) => "5 ",
        (false, true) => "16 ",
    };
    let (right, kept) = (groups_of(dn, &states.ours), memberships(dn, &states.theirs));
    let is_meant = right != kept
        && finding.ours.starts_with(answer(&right))
        && finding.theirs.starts_with(answer(&kept));
    is_meant.then_some("compares of memberOf: the same")
}

/// Explains a grace login. slapd lets a bind pass without one while a reset is pending.
fn grace(states: &States, finding: &Finding) -> Option<&'static str> {
    let mut resets = states.ours_before.get(&finding.dn)?.get("pwdreset")?.iter();
    let is_pending = resets.any(|value| value == b"TRUE");
    (is_pending
        && finding.request.contains(": bind \"")
        && finding.theirs.len() < finding.ours.len())
    .then_some("pwdGraceUseTime: slapd uses no grace login while a reset is pending")
}

/// Explains values at or below a name that is gone, if ours follow the rule. The overlay refint of
/// slapd changes those below even if the entry had no descendants. Its memberof-refint never does,
/// and leaves groups alone that move with the name.
fn below(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    let (_, text) = finding.request.split_once(": ")?;
    let rename = text.strip_prefix("modrdn \"");
    let old = rename.or_else(|| text.strip_prefix("delete \""))?;
    let (old, _) = old.split_once('"')?;
    let (old, entry) = (normal(old), normal(&finding.dn));
    let new = match rename {
        Some(_) => Some(new_name(&finding.request)?),
        None => None,
    };
    if !references::is_right(states, finding, &old, new.as_deref()) {
        return None;
    }
    let below = format!(",{old}");
    let is_below_new = |new: &String| entry == *new || entry.ends_with(&format!(",{new}"));
    let has_moved = new.as_ref().is_some_and(is_below_new);
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    let are_below = |these: &BTreeSet<String>, others: &BTreeSet<String>, is_old: bool| {
        let mut only = these.difference(others).peekable();
        let is_gone = |value: &String| value.ends_with(&below) || is_old && *value == old;
        only.peek().is_some() && only.all(is_gone)
    };
    let mut names = states.ours_before.keys();
    let had_descendants = names.any(|name| normal(name).ends_with(&below));
    if world.has("refint") && !had_descendants && are_below(&ours, &theirs, false) {
        return Some("refint: slapd changes values below a name that had no descendants");
    }
    let names_no_entry =
        |value: &String| states.ours_before.keys().all(|name| normal(name) != *value);
    if world.name == "memberof-error"
        && are_below(&theirs, &ours, false)
        && theirs.difference(&ours).all(names_no_entry)
    {
        return Some("refint: in slapd, memberof-dangling refuses to follow names of no entry");
    }
    if world.name == "memberof-error"
        && is_held_back(states, finding, &below)
        && are_below(&theirs, &ours, true)
    {
        return Some("refint: the same for other values of a group with such a member");
    }
    if world.name != "memberof-follow" {
        return None;
    }
    if rename.is_some() && are_below(&theirs, &ours, has_moved) {
        return Some("memberof-refint: slapd does not follow renames of whole subtrees");
    }
    let mut differing = theirs.symmetric_difference(&ours);
    let (known, right) = match &new {
        Some(new) => (
            memberships(new, &states.theirs),
            groups_of(new, &states.ours),
        ),
        None => (
            memberships(&old, &states.theirs_before),
            groups_of(&old, &states.ours_before),
        ),
    };
    let (is_known, is_right) = (known.contains(&entry), right.contains(&entry));
    let below_new = new.as_ref().map(|new| format!(",{new}"));
    let is_concerned = |value: &String| {
        let is_named = *value == old || Some(value) == new.as_ref();
        // Those below did not follow either, as above.
        let is_below = |below_new: &String| value.ends_with(&below) || value.ends_with(below_new);
        is_named || below_new.as_ref().is_some_and(is_below)
    };
    (is_known != is_right && differing.all(is_concerned)).then_some(
        "memberof-refint: slapd follows the groups that the entry names, not the present ones",
    )
}

/// Returns true if slapd's group does not follow a rename. One of its members is below the old name
/// and names no entry. slapd changes all values of an entry in one modify.
fn is_held_back(states: &States, finding: &Finding, below: &str) -> bool {
    let names_entry = |value: &String| states.ours_before.keys().any(|name| normal(name) == *value);
    let entry = states.theirs.get(&finding.dn);
    let members = entry.and_then(|entry| entry.get("member"));
    let members = members.into_iter().flatten();
    let mut members = members.map(|value| normal(&String::from_utf8_lossy(value)));
    finding.request.contains(": modrdn \"")
        && members.any(|member| member.ends_with(below) && !names_entry(&member))
}

/// Returns the name that a rename gives, in normal form.
fn new_name(request: &str) -> Option<String> {
    let quoted: Vec<&str> = request.split('"').collect();
    let (old, rdn) = (*quoted.get(1)?, *quoted.get(3)?);
    let parent = match quoted.get(5) {
        Some(parent) => parent,
        None => old.split_once(',')?.1,
    };
    let mut avas: Vec<&str> = rdn.split('+').collect();
    avas.sort_unstable();
    Some(normal(&format!("{},{parent}", avas.join("+"))))
}

/// Explains an author of references that only one server has changed.
fn author(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    let authors = ["cn=referential integrity overlay", "cn=references"];
    let (theirs, ours) = (
        states.theirs.get(&finding.dn)?,
        states.ours.get(&finding.dn)?,
    );
    if world.name == "memberof-follow" {
        let is_changed = theirs.get("member") != ours.get("member");
        return (is_changed && finding.ours == ROOT_DN)
            .then_some("memberof-refint: the author of a change that slapd does not make");
    }
    let references = [
        "member",
        "uniquemember",
        "owner",
        "manager",
        "seealso",
        "secretary",
    ];
    let mut references = references.iter();
    let is_changed = references.any(|name| theirs.get(*name) != ours.get(*name));
    let has_followed = |author: &str| authors.contains(&author);
    let is_meant = has_followed(&finding.theirs)
        || world.name == "memberof-error" && has_followed(&finding.ours);
    // Values below the name get the same one again.
    let old = finding.request.split('"').nth(1).map(normal);
    let is_same = old.is_some() && new_name(&finding.request) == old;
    (world.has("refint") && is_meant && (is_changed || is_same))
        .then_some("refint: the author of a change that slapd makes, and ours does not")
}

/// Explains the order of values, if those that did not follow a rename are in the same one.
fn order_of_followers(finding: &Finding) -> Option<&'static str> {
    let new = new_name(&finding.request)?;
    let below = format!(",{new}");
    let stays = |value: &&str| {
        let value = normal(value);
        value != new && !value.ends_with(&below)
    };
    let (theirs, ours) = (finding.theirs.split(" | "), finding.ours.split(" | "));
    (finding.request.contains(": modrdn ") && theirs.filter(stays).eq(ours.filter(stays)))
        .then_some("references: slapd appends values that follow together in an order of its own")
}

/// Explains stored passwords by the rules of both servers.
fn passwords(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    let name = &finding.dn;
    let theirs = Update {
        before: states.theirs_before.get(name)?,
        after: states.theirs.get(name)?,
    };
    let ours = Update {
        before: states.ours_before.get(name)?,
        after: states.ours.get(name)?,
    };
    if finding.what == "attribute userpassword" {
        return kept_passwords::wrong_deletion(&theirs, &ours, &finding.request);
    }
    let limit = policy_of(world, states, name).map(|policy| {
        let values = policy.get("pwdinhistory").into_iter().flatten();
        let mut numbers = values.filter_map(|value| value.escape_ascii().to_string().parse().ok());
        numbers.next().unwrap_or(0)
    });
    kept_passwords::history(&theirs, &ours, limit, &finding.request)
}

/// Explains failures that only one server keeps. slapd removes all at a bind without a policy, and
/// keeps those that are too old to count.
fn failures(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    if !finding.request.contains(": bind ") {
        return None;
    }
    if finding.theirs.is_empty() {
        return policy_of(world, states, &finding.dn)
            .is_none()
            .then_some("pwdFailureTime: slapd removes failures at a bind also without a policy");
    }
    if finding.ours.is_empty() && policy_of(world, states, &finding.dn).is_some_and(records_none) {
        return Some(
            "pwdFailureTime: slapd keeps failures that the present policy does not record",
        );
    }
    let times = |text: &str| -> Vec<i64> {
        let values = text.split(" | ");
        values
            .filter_map(|value| seconds(value.get(..14)?))
            .collect()
    };
    let (theirs, ours) = (times(&finding.theirs), times(&finding.ours));
    let newest = theirs.iter().max()?;
    let recent = theirs.iter().filter(|time| newest - **time <= 600);
    (recent.count() == ours.len() && theirs.len() > ours.len())
        .then_some("pwdFailureTime: slapd keeps failures that are too old to count")
}

/// Returns true for a policy under which no failure is recorded.
fn records_none(policy: &Attributes) -> bool {
    ["pwdmaxfailure", "pwdmaxrecordedfailure"]
        .iter()
        .all(|name| {
            let mut values = policy.get(*name).into_iter().flatten();
            values.all(|value| value == b"0")
        })
}

/// Returns the entry of the policy that is in effect.
fn policy_of<'s>(world: &World, states: &'s States, dn: &str) -> Option<&'s Attributes> {
    let entry = states.ours.get(dn)?;
    let named = entry
        .get("pwdpolicysubentry")
        .and_then(|values| values.first());
    let default = format!("cn=default,ou=other,{}", world.suffix());
    let policy = named.map_or(default, |name| String::from_utf8_lossy(name).into_owned());
    states.ours.get(&policy)
}

/// Explains a bind under an expired password that must be changed.
fn reset(states: &States, finding: &Finding) -> Option<&'static str> {
    let name = finding.request.split('"').nth(1)?;
    let is_reset = states.ours.get(name)?.contains_key("pwdreset");
    let is_expired = match finding.what.as_str() {
        "code" => finding.theirs.starts_with("0 ") && finding.ours.starts_with("49 "),
        _ => {
            // It warns of the end of one that is over already.
            let mut theirs = [": \"error 2\"}", ": \"expires in 0, error 2\"}"].into_iter();
            theirs.any(|end| finding.theirs.ends_with(end))
                && finding.ours.ends_with(" grace logins, error 2\"}")
        }
    };
    (is_reset && is_expired)
        .then_some("bind: slapd lets a password expire only if no reset is pending")
}

/// Explains the answer to a change of a password.
fn changed_password(states: &States, finding: &Finding) -> Option<&'static str> {
    let name = finding.request.split('"').nth(1);
    let entry = name.and_then(|name| states.ours.get(name));
    if entry.is_some_and(|entry| kept_passwords::is_added_again(entry, finding)) {
        return Some("userPassword: slapd removes the first of several, and adds it again");
    }
    no_password(states, finding)
}

/// Explains a new password for an entry without one. slapd wants an old password there too, and
/// does not look at the history.
fn no_password(states: &States, finding: &Finding) -> Option<&'static str> {
    let name = match finding.operation {
        "modify" => Some(finding.request.split('"').nth(1)?),
        // The request need not name the entry.
        _ => None,
    };
    let mut users = states.ours.iter().filter(|(dn, _)| {
        let is_named = name.is_none_or(|name| normal(name) == normal(dn));
        is_named && dn.starts_with("uid=")
    });
    let is_missing = users.any(|(_, entry)| !entry.contains_key("userpassword"));
    let theirs = |text: &str| is_missing && finding.theirs.starts_with(text);
    let ours = |text: &str| finding.ours.starts_with(text);
    let is_kept = ours("19 Password is in history of old passwords");
    let impossible = "16 modify/delete: userPassword: no such attribute";
    if theirs("50 Must supply old password") && (ours("0 ") || ours("19 Password ")) {
        return Some("an entry without a password has no old one to supply");
    }
    if theirs("50 Must supply old password") && ours(impossible) {
        return Some("an entry without a password has no old one to delete");
    }
    (is_kept && (theirs("0 ") || theirs(impossible)))
        .then_some("pwdHistory: it counts also for an entry without a password")
}

/// Explains a search of entries with computed values.
fn dynamic(states: &States, finding: &Finding) -> Option<&'static str> {
    let stored = states.ours.get(&finding.dn)?;
    match finding.what.as_str() {
        "attribute memberof" => groups_of_group(states, finding),
        "attribute member" => {
            shown::members_of_members(finding).or_else(|| shown::case(stored, finding))
        }
        what if what.starts_with("order ") => shown::order(stored, finding),
        "attribute employeenumber" => shown::single(states, finding),
        _ => shown::case(stored, finding).or_else(|| shown::lists_of_lists(states, finding)),
    }
}

/// Explains memberships of groups within groups that slapd leaves out.
fn groups_of_group(states: &States, finding: &Finding) -> Option<&'static str> {
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    is_wider(states, &finding.dn, &theirs, &ours)
        .then_some("memberOf: slapd leaves groups of groups, and those above the database, out")
}

/// Returns true if our groups of an entry are slapd's, and those that slapd leaves out. These are
/// groups of groups, and groups that know a group by a URL with a base above the database. Groups
/// of the latter are missing too.
pub(crate) fn is_wider(
    states: &States,
    dn: &str,
    theirs: &BTreeSet<String>,
    ours: &BTreeSet<String>,
) -> bool {
    let added: BTreeSet<&String> = ours.difference(theirs).collect();
    let is_meant = |group: &String| {
        let mut above = states.above.iter().filter(|(name, _)| added.contains(name));
        above.any(|(name, groups)| name == group || groups.contains(group))
    };
    theirs.is_subset(ours) && (dn.starts_with("cn=") || added.iter().all(|group| is_meant(group)))
}

/// Returns names in a text of values.
pub(crate) fn names_in(values: &str) -> BTreeSet<String> {
    let values = values.split(" | ").filter(|value| !value.is_empty());
    values.map(normal).collect()
}

/// Returns the groups that name an entry.
fn groups_of(dn: &str, entries: &Entries) -> BTreeSet<String> {
    let dn = normal(dn);
    let is_group = |entry: &Attributes| {
        let has = |class: &str| {
            let mut classes = entry.get("objectclass").into_iter().flatten();
            classes.any(|value| value.eq_ignore_ascii_case(class.as_bytes()))
        };
        let names = |attribute: &str| {
            let mut values = entry.get(attribute).into_iter().flatten();
            values.any(|value| normal(&String::from_utf8_lossy(value)) == dn)
        };
        (has("groupOfNames") || has("team")) && names("member")
            || has("groupOfUniqueNames") && names("uniquemember")
    };
    let groups = entries.iter().filter(|(_, entry)| is_group(entry));
    groups.map(|(name, _)| normal(name)).collect()
}

/// Returns the memberships that a server shows.
fn memberships(dn: &str, entries: &Entries) -> BTreeSet<String> {
    let dn = normal(dn);
    let entry = entries.iter().find(|(name, _)| normal(name) == dn);
    let values = entry.and_then(|(_, entry)| entry.get("memberof"));
    let values = values.into_iter().flatten();
    values
        .map(|value| normal(&String::from_utf8_lossy(value)))
        .collect()
}

/// Returns a name in small letters without the spaces that the histories write.
pub(crate) fn normal(dn: &str) -> String {
    dn.to_lowercase().replace(" , ", ",")
}
