//! `fulgurite replication check`: compares the contents of two servers over LDAP.
//!
//! It reads the name, entryUUID and entryCSN of each entry, so any server of slapd's kind will do.
//! The first pass makes digests. If they differ, a second pass reads the entries of leaves that
//! differ. Glue differs between servers, so it does not count.
//!
//! A [repair](super::repair) follows if it is asked for, and then another comparison.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fulgurite_client::{Client, Entry, Scope};
use fulgurite_ldap::{Control, FilterBuf, Response, SearchRequest, oid};

use super::digest::{ContentDigest, leaf_of};
use super::repair::repair;
use super::uuid_text;
use crate::arguments::replication::Check;
use crate::remote::login::Login;

/// Entries of the second pass at most, about.
const LISTED_MAX: u64 = 100_000;

/// The entries that differ, with the number and the name that each server has.
pub(super) type Differences = BTreeMap<u128, [Option<String>; 2]>;

/// The first server, unless `--url` names it.
const DEFAULT_URL: &str = "ldap://127.0.0.1:389";
/// The time that replication may take to bring the repaired entries to the other server.
const REPAIR_WAIT: Duration = Duration::from_secs(30);
/// The time between looks at the states.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A server.
pub(super) struct Side<'c> {
    url: &'c str,
    client: Client,
}

/// The outcome of a comparison.
struct Comparison {
    entries: [u64; 2],
    differences: Differences,
    has_more: bool,
}

/// Compares two servers. Returns 0 if they are equal, perhaps after a repair, and 1 if they differ.
pub(super) fn run(command: &Check) -> anyhow::Result<u8> {
    let side = |url: &'_ str| -> anyhow::Result<Client> {
        let mut flags = command.server.clone();
        flags.url = Some(url.to_owned());
        Login::new(&flags)?.connect()
    };
    let url = command.server.url.as_deref().unwrap_or(DEFAULT_URL);
    let sides = [url, &command.peer].map(|url| side(url).map(|client| Side { url, client }));
    let [one, other] = sides;
    let mut sides = [one?, other?];
    let compared = compare_at_rest(&mut sides, &command.base)?;
    let is_equal = compared.is_equal();
    let mut out = std::io::stdout();
    out.write_all(shown(&compared, &sides).as_bytes())?;
    if is_equal || !(command.repair || command.dry_run) {
        return Ok(u8::from(!is_equal));
    }
    let (text, _) = repair(
        &mut sides,
        &command.base,
        &compared.differences,
        command.dry_run,
    )?;
    out.write_all(text.as_bytes())?;
    if command.dry_run {
        return Ok(1);
    }
    let begun = Instant::now();
    while !are_equal_states(&mut sides, &command.base)? && begun.elapsed() < REPAIR_WAIT {
        thread::sleep(LOOK_EVERY);
    }
    let compared = compare_at_rest(&mut sides, &command.base)?;
    out.write_all(shown(&compared, &sides).as_bytes())?;
    Ok(u8::from(!compared.is_equal()))
}

impl Comparison {
    fn is_equal(&self) -> bool {
        self.differences.is_empty() && !self.has_more
    }
}

/// Compares two servers that are in one state all the time.
fn compare_at_rest(sides: &mut [Side<'_>; 2], base: &str) -> anyhow::Result<Comparison> {
    let state = equal_state(sides, base)?;
    let compared = compare(sides, base)?;
    if equal_state(sides, base)? != state {
        bail!("the content has changed meanwhile: compare again");
    }
    Ok(compared)
}

fn are_equal_states(sides: &mut [Side<'_>; 2], base: &str) -> anyhow::Result<bool> {
    let [one, other] = sides;
    Ok(one.state(base)? == other.state(base)?)
}

fn shown(compared: &Comparison, sides: &[Side<'_>; 2]) -> String {
    let mut out = String::new();
    for (side, entries) in sides.iter().zip(compared.entries) {
        out.push_str(&format!("{}: {entries} entries\n", side.url));
    }
    for (uuid, numbers) in &compared.differences {
        out.push_str(&format!("{} {}\n", uuid_text(*uuid), told(numbers)));
    }
    out.push_str(match (compared.differences.is_empty(), compared.has_more) {
        (true, false) => "equal\n",
        (_, false) => "different\n",
        (_, true) => "different, also in entries that are not listed\n",
    });
    out
}

/// Returns the states of an entry at both servers. Equal numbers have their names with them.
fn told(states: &[Option<String>; 2]) -> String {
    let states = states
        .each_ref()
        .map(|state| state.as_deref().unwrap_or("missing"));
    let numbers = states.map(|state| state.split_once(' ').map_or(state, |(csn, _)| csn));
    let [one, other] = match numbers {
        [one, other] if one == other => {
            states.map(|state| format!("\"{}\"", state.escape_default()))
        }
        numbers => numbers.map(str::to_owned),
    };
    format!("{one} {other}")
}

/// Returns the state that both servers are in.
fn equal_state(sides: &mut [Side<'_>; 2], base: &str) -> anyhow::Result<Vec<String>> {
    let [one, other] = sides;
    let states = [one.state(base)?, other.state(base)?];
    let [state, peer] = states;
    if state != peer {
        let (one, other) = (state.join(" "), peer.join(" "));
        bail!("the servers are in different states, so nothing can be compared: {one} and {other}");
    }
    Ok(state)
}

fn compare(sides: &mut [Side<'_>; 2], base: &str) -> anyhow::Result<Comparison> {
    let mut digests = [ContentDigest::new(), ContentDigest::new()];
    for (side, digest) in sides.iter_mut().zip(&mut digests) {
        side.each_entry(base, &mut |uuid, state| digest.add(uuid, state))?;
    }
    let [one, other] = &digests;
    let (leaves, has_more) = one.differences(other, LISTED_MAX);
    let mut differences = Differences::new();
    if !leaves.is_empty() {
        for (at, side) in sides.iter_mut().enumerate() {
            side.each_entry(base, &mut |uuid, state| {
                if leaves.binary_search(&leaf_of(uuid)).is_ok() {
                    let numbers = differences.entry(uuid).or_default();
                    if let Some(number) = numbers.get_mut(at) {
                        *number = Some(state.to_owned());
                    }
                }
            })?;
        }
    }
    differences.retain(|_, [one, other]| one != other);
    Ok(Comparison {
        entries: [one.entries(), other.entries()],
        differences,
        has_more,
    })
}

impl Side<'_> {
    pub(super) fn url(&self) -> &str {
        self.url
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns the state of the content: the greatest number of each server.
    fn state(&mut self, base: &str) -> anyhow::Result<Vec<String>> {
        let url = self.url;
        let filter = "(objectClass=*)";
        let found = self
            .client
            .search(base, Scope::Base, filter, &["contextCSN"])?;
        if !found.result.is_success() {
            bail!("{url}: {base}: {}", found.result.code.name());
        }
        let entry: Option<&Entry> = found.entries.first();
        let values = entry.map(|entry| entry.values("contextCSN"));
        let values = values.unwrap_or_default().iter();
        let mut state: Vec<String> = values
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
        if state.is_empty() {
            bail!("{url}: {base} shows no contextCSN: it needs a provider, and rights to read it");
        }
        state.sort();
        Ok(state)
    }

    /// Passes the UUID and the state of each entry to `each`: its number and its name.
    fn each_entry(&mut self, base: &str, each: &mut dyn FnMut(u128, &str)) -> anyhow::Result<()> {
        let url = self.url;
        let filter = FilterBuf::parse("(!(objectClass=glue))").context("a filter")?;
        let request = SearchRequest {
            attributes: vec![b"entryUUID", b"entryCSN"],
            ..SearchRequest::new(base, Scope::Subtree, filter.filter())
        };
        // Referral objects are entries, too.
        let control = Control::new(oid::MANAGE_DSA_IT, false);
        let mut stream = self.client.search_stream(&request, &[control])?;
        while let Some(message) = stream.next_message()? {
            match message.response {
                Response::SearchEntry(entry) => {
                    let entry = Entry::from(&entry);
                    let identity = identity(&entry);
                    let (uuid, state) = identity.with_context(|| {
                        format!("{url}: {}: entryUUID and entryCSN cannot be read", entry.dn)
                    })?;
                    each(uuid, &state);
                }
                Response::SearchDone(result) if !result.is_success() => {
                    bail!("{url}: the search ends: {}", result.code.name());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the UUID of an entry, and number and name in lower case.
fn identity(entry: &Entry) -> Option<(u128, String)> {
    let uuid = entry.first("entryUUID")?.replace('-', "");
    let uuid = u128::from_str_radix(&uuid, 16).ok()?;
    let name = entry.dn.to_lowercase();
    Some((uuid, format!("{} {name}", entry.first("entryCSN")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_or_missing() {
        let entry = |attributes: &[(&str, &str)]| Entry {
            dn: "cn=X".to_owned(),
            attributes: attributes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), vec![value.as_bytes().to_vec()]))
                .collect(),
        };
        let uuid = ("entryUUID", "00000000-0000-0000-0000-00000000000a");
        let found = identity(&entry(&[uuid, ("entryCSN", "c")]));
        assert_eq!(found, Some((10, "c cn=x".to_owned())));
        assert_eq!(identity(&entry(&[uuid])), None);
        assert_eq!(
            identity(&entry(&[("entryUUID", "x"), ("entryCSN", "c")])),
            None
        );
    }

    #[test]
    fn names_are_told_where_numbers_are_equal() {
        let states = |one: &str, other: &str| [Some(one.to_owned()), Some(other.to_owned())];
        assert_eq!(told(&states("1 cn=x", "2 cn=y")), "1 2");
        assert_eq!(
            told(&states("1 cn=x", "1 cn=y,ou=a")),
            "\"1 cn=x\" \"1 cn=y,ou=a\""
        );
        assert_eq!(told(&[None, Some("1 cn=x".to_owned())]), "missing 1");
    }
}
