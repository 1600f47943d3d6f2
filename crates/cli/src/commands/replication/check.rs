//! `fulgurite replication check`: compares the contents of two servers over LDAP.
//!
//! It reads the name, entryUUID and entryCSN of each entry, so any server of slapd's kind will do.
//! The first pass makes digests. If they differ, a second pass reads the entries of leaves that
//! differ. Glue differs between servers, so it does not count.
//!
//! A [repair](super::repair) follows if it is asked for, and then another comparison.

use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use fulgurite_client::Client;

use super::digest::{ContentDigest, leaf_of};
use super::repair::repair;
use super::side::{Differences, Side, uuid_text};
use crate::arguments::replication::Check;
use crate::remote::login::Login;

/// Entries of the second pass at most, about.
const LISTED_MAX: u64 = 100_000;

/// The first server, unless `--url` names it.
const DEFAULT_URL: &str = "ldap://127.0.0.1:389";
/// The time that replication may take to bring the repaired entries to the other server.
const REPAIR_WAIT: Duration = Duration::from_secs(30);
/// The time between looks at the states.
const LOOK_EVERY: Duration = Duration::from_millis(200);

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
    let sides = [url, &command.peer].map(|url| side(url).map(|client| Side::new(url, client)));
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
        out.push_str(&format!("{}: {entries} entries\n", side.url()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
