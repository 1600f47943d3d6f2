//! The repair of entries that differ between two servers.
//!
//! The state with the greater entryCSN wins. Its server gets a change that alters nothing but the
//! stamps, and replication brings the entry to the other one. So a repair needs no right but that
//! to modify the entries, and slapd will do on either side. A copy that nobody may change refuses
//! it. Then its provider gets the change, which has the greatest number of all.

use std::collections::BTreeSet;

use anyhow::bail;
use fulgurite_client::{Change, Client, Entry, LdapResult, Scope};
use fulgurite_ldap::{Control, FilterBuf, ModifyRequest, Request, ResultCode, SearchRequest, oid};

use super::side::{Differences, Side, uuid_text};

/// The outcome for one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Repaired {
    /// The server whose state goes to the other one.
    By(usize),
    /// Not at all: the reason.
    Not(String),
}

/// Repairs entries, or only says how with `dry_run`. Returns a line for each, and if all went well.
pub(super) fn repair(
    sides: &mut [Side<'_>; 2],
    base: &str,
    differences: &Differences,
    dry_run: bool,
) -> anyhow::Result<(String, bool)> {
    let (mut out, mut is_done) = (String::new(), true);
    for (uuid, states) in differences {
        let uuid = uuid_text(*uuid);
        let winner = winner(states);
        let outcome = match dry_run {
            true => Repaired::By(winner),
            false => repair_one(sides, base, &uuid, (winner, states))?,
        };
        let text = match outcome {
            Repaired::By(side) => {
                let verb = if dry_run { "would go" } else { "goes" };
                let [from, to] = [side, 1 - side].map(|side| sides.get(side).map_or("", Side::url));
                format!("{uuid} {verb} from {from} to {to}\n")
            }
            Repaired::Not(reason) => {
                is_done = false;
                format!("{uuid} is not repaired: {reason}\n")
            }
        };
        out.push_str(&text);
    }
    Ok((out, is_done))
}

/// Returns the server whose state of an entry wins.
fn winner(states: &[Option<String>; 2]) -> usize {
    let [one, other] = states.each_ref().map(|state| {
        let state = state.as_deref()?;
        Some(state.split_once(' ').map_or(state, |(csn, _)| csn))
    });
    usize::from(other > one)
}

fn repair_one(
    sides: &mut [Side<'_>; 2],
    base: &str,
    uuid: &str,
    (winner, states): (usize, &[Option<String>; 2]),
) -> anyhow::Result<Repaired> {
    let mut refusals = BTreeSet::new();
    for at in [winner, 1 - winner] {
        let (Some(side), Some(Some(_))) = (sides.get_mut(at), states.get(at)) else {
            continue;
        };
        let url = side.url().to_owned();
        match touch(side.client(), base, uuid)? {
            None => return Ok(Repaired::Not("the entry has changed meanwhile".to_owned())),
            Some(result) if result.is_success() => return Ok(Repaired::By(at)),
            Some(result) if may_be_copy(&result) => refusals.insert(url),
            Some(result) => bail!("{url}: {uuid}: {}", result.code.name()),
        };
    }
    let refusals: Vec<String> = refusals.into_iter().collect();
    Ok(Repaired::Not(format!(
        "only a copy has the entry, and takes no changes: {}",
        refusals.join(" ")
    )))
}

/// Returns true for the answers of a copy that nobody may change.
fn may_be_copy(result: &LdapResult) -> bool {
    matches!(
        result.code,
        ResultCode::Referral | ResultCode::UnwillingToPerform
    )
}

/// Replaces the classes of an entry by the same. Returns `None` without the entry.
fn touch(client: &mut Client, base: &str, uuid: &str) -> anyhow::Result<Option<LdapResult>> {
    let filter = FilterBuf::parse(&format!("(entryUUID={uuid})"))?;
    let request = SearchRequest {
        attributes: vec![b"objectClass"],
        ..SearchRequest::new(base, Scope::Subtree, filter.filter())
    };
    // Referral objects are entries, too.
    let control = Control::new(oid::MANAGE_DSA_IT, false);
    let found = client.search_with(&request, std::slice::from_ref(&control))?;
    let Some(entry) = found.entries.first() else {
        return Ok(None);
    };
    let entry: &Entry = entry;
    let classes: Vec<&[u8]> = entry
        .values("objectClass")
        .iter()
        .map(Vec::as_slice)
        .collect();
    let request = Request::Modify(ModifyRequest {
        dn: entry.dn.as_bytes(),
        changes: vec![Change::replace("objectClass", &classes)],
    });
    let reply = client.request(&request, &[control])?;
    Ok(Some(reply.result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_number_wins_and_any_over_none() {
        let some = |state: &str| Some(state.to_owned());
        assert_eq!(winner(&[some("2 cn=x"), some("1 cn=y")]), 0);
        assert_eq!(winner(&[some("1 cn=x"), some("2 cn=a")]), 1);
        assert_eq!(winner(&[some("1 cn=x"), some("1 cn=y")]), 0);
        assert_eq!(winner(&[None, some("1 cn=x")]), 1);
        assert_eq!(winner(&[some("1 cn=x"), None]), 0);
    }
}
