//! The configurations of several providers as one: each entry by its number and its server's state.
//!
//! ```text
//!   own entries, state  --.
//!                          >-- each entry: later one wins, or is gone --> merged entries, state
//!   told entries, state --'
//! ```
//!
//! The state is the `contextCSN` of `cn=config`. It covers each change that the entries have taken
//! in. So an entry that one server lacks is new to it, or has been deleted there. Its state
//! decides, and no server has to remember deletions. All servers reach the same entries, in any
//! order.
//!
//! Numbers without a server count for no state, because each server may have given them. When the
//! merging begins, each server takes such entries as its changes of that time.

use std::collections::BTreeMap;

use fulgurite_config::ConfigEntry;
use fulgurite_store::{CsnVector, PackedCsn};

/// The entry at the top, which has the state.
const TOP: &str = "cn=config";

/// The entry that says if the configuration has several providers.
const OWN_DATABASE: &str = "olcDatabase={0}config,cn=config";

/// The entry of the definitions that are built in. Each server has its own.
pub(super) const BUILT_IN: &str = "cn=schema,cn=config";

const STATE: &str = "contextCSN";
const NUMBER: &str = "entryCSN";
const IDENTITY: &str = "entryUUID";

/// The entries after a merge.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) entries: Vec<ConfigEntry>,
    /// The names of entries that left because of another one with their name, or of one above.
    pub(super) lost: Vec<String>,
}

/// An entry with the facts that decide about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    number: Option<PackedCsn>,
    entry: ConfigEntry,
}

impl Version {
    fn of(entry: ConfigEntry) -> Version {
        let number = value(&entry, NUMBER);
        let number = number.and_then(|number| PackedCsn::parse(number.as_bytes()));
        Version { number, entry }
    }

    /// Returns true if a state has taken this version of the entry in.
    fn is_covered(&self, state: &CsnVector) -> bool {
        self.number.is_some_and(|number| state.covers(number))
    }

    /// The order of versions that no state decides about.
    fn rank(&self) -> (Option<PackedCsn>, &str, String) {
        let text = format!("{:?}", self.entry.attributes);
        (self.number, &self.entry.dn, text)
    }
}

/// Returns true if these entries are merged with those of other servers.
pub(super) fn is_wanted(entries: &[ConfigEntry]) -> bool {
    let own = entries.iter().find(|entry| is(&entry.dn, OWN_DATABASE));
    let values =
        |name: &str| -> Vec<String> { own.map_or(Vec::new(), |own| own.values(name).to_vec()) };
    let switches = [values("olcMultiProvider"), values("olcMirrorMode")].concat();
    switches
        .iter()
        .any(|value| value.eq_ignore_ascii_case("TRUE"))
}

/// Numbers the entries that a change has touched, and brings the state up to date.
///
/// `next` returns a number of this server above a floor. `server` is its own number.
pub(super) fn note_change(
    before: &[ConfigEntry],
    after: Vec<ConfigEntry>,
    server: u16,
    next: &dyn Fn(Option<PackedCsn>) -> String,
) -> Vec<ConfigEntry> {
    let (before, _) = begin(before.to_vec(), server);
    let (mut after, mut state) = begin(after, server);
    state.raise_all(&state_of(&before));
    let number = next(state.of(server));
    if let Some(number) = PackedCsn::parse(number.as_bytes()) {
        state.raise(number);
    }
    let held: BTreeMap<String, &ConfigEntry> =
        before.iter().map(|entry| (key(entry), entry)).collect();
    for entry in &mut after {
        // The state itself is no change.
        let is_same = held.get(&key(entry)).is_some_and(|held| {
            let same_rest = |entry: &ConfigEntry| without(entry.clone(), STATE);
            same_rest(held) == same_rest(entry)
        });
        if !is_same {
            set(entry, NUMBER, vec![number.clone()]);
        }
    }
    with_state(after, &state)
}

/// Merges the entries that a provider has told. Its state is `told_state`; without one it says
/// nothing about deletions.
pub(super) fn merge(
    own: Vec<ConfigEntry>,
    told: Vec<ConfigEntry>,
    told_state: &[String],
    server: u16,
) -> Merged {
    let (own, mut state) = begin(own, server);
    let told_numbers = told_state.iter();
    let told_numbers = told_numbers.filter_map(|csn| PackedCsn::parse(csn.as_bytes()));
    let told_state: CsnVector = told_numbers.filter(|csn| csn.server() != 0).collect();
    let is_built_in = |entry: &ConfigEntry| is(&entry.dn, BUILT_IN);
    let (built_in, own): (Vec<_>, Vec<_>) = own.into_iter().partition(is_built_in);
    let (told_built_in, told): (Vec<_>, Vec<_>) = told.into_iter().partition(is_built_in);
    let mut pairs: BTreeMap<String, (Option<Version>, Option<Version>)> = BTreeMap::new();
    for entry in own {
        let entry = without(entry, STATE);
        let place = pairs.entry(key(&entry)).or_default();
        place.0 = Some(Version::of(entry));
    }
    let mut news = told_state.clone();
    for entry in told {
        let known = Version::of(without(entry, STATE));
        if let Some(number) = known.number.filter(|number| number.server() != 0) {
            news.raise(number);
        }
        let place = pairs.entry(key(&known.entry)).or_default();
        place.1 = Some(known);
    }
    let kept = pairs.into_iter();
    let kept =
        kept.filter_map(|(key, (own, told))| Some((key, winner(own, told, &state, &told_state)?)));
    let (mut kept, mut lost) = one_for_each_name(kept.collect());
    kept.extend(built_in.into_iter().chain(told_built_in).take(1));
    let kept = below_others(kept, &mut lost);
    state.raise_all(&news);
    Merged {
        entries: with_state(kept, &state),
        lost,
    }
}

/// Returns the version of an entry that stays. `None` if it is gone.
fn winner(
    own: Option<Version>,
    told: Option<Version>,
    state: &CsnVector,
    told_state: &CsnVector,
) -> Option<Version> {
    match (own, told) {
        (Some(own), Some(told)) => {
            let is_old = own.is_covered(told_state);
            let is_known = told.is_covered(state);
            let takes_told = match (is_old, is_known) {
                (true, false) => true,
                (false, true) => false,
                _ => told.rank() > own.rank(),
            };
            Some(if takes_told { told } else { own })
        }
        // The other server has it no longer, or never had it.
        (Some(own), None) => (!own.is_covered(told_state)).then_some(own),
        (None, Some(told)) => (!told.is_covered(state)).then_some(told),
        (None, None) => None,
    }
}

/// Keeps the latest of the entries that have one name.
fn one_for_each_name(all: Vec<(String, Version)>) -> (Vec<ConfigEntry>, Vec<String>) {
    let mut names: BTreeMap<String, (String, Version)> = BTreeMap::new();
    let mut lost = Vec::new();
    for (key, known) in all {
        let name = known.entry.dn.to_ascii_lowercase();
        let Some(held) = names.get_mut(&name) else {
            names.insert(name, (key, known));
            continue;
        };
        lost.push(known.entry.dn.clone());
        if (known.number, &key) > (held.1.number, &held.0) {
            *held = (key, known);
        }
    }
    let kept = names.into_values().map(|(_, known)| known.entry);
    (kept.collect(), lost)
}

/// Drops entries below one that is gone.
fn below_others(mut kept: Vec<ConfigEntry>, lost: &mut Vec<String>) -> Vec<ConfigEntry> {
    kept.sort_by_cached_key(|entry| entry.dn.matches(',').count());
    let mut names = std::collections::BTreeSet::new();
    kept.retain(|entry| {
        let above = entry.dn.split_once(',').map(|(_, above)| above.trim());
        let has_place = above.is_none_or(|above| names.contains(&above.to_ascii_lowercase()));
        if has_place || is(&entry.dn, TOP) {
            names.insert(entry.dn.to_ascii_lowercase());
            return true;
        }
        lost.push(entry.dn.clone());
        false
    });
    kept
}

/// Returns the entries with their state. Before the first merge, numbers without a server get this
/// one's: nobody knows a state of it yet.
fn begin(mut entries: Vec<ConfigEntry>, server: u16) -> (Vec<ConfigEntry>, CsnVector) {
    let is_first = !entries.iter().any(|entry| value(entry, STATE).is_some());
    for entry in entries.iter_mut().filter(|_| is_first) {
        let number = value(entry, NUMBER);
        let number = number.and_then(|number| PackedCsn::parse(number.as_bytes()));
        if let Some(number) = number.filter(|number| number.server() == 0) {
            let own = number.text().replace("#000#", &format!("#{server:03x}#"));
            set(entry, NUMBER, vec![own]);
        }
    }
    let state = state_of(&entries);
    (entries, state)
}

/// Returns the changes that some entries have taken in.
fn state_of(entries: &[ConfigEntry]) -> CsnVector {
    let top = entries.iter().find(|entry| is(&entry.dn, TOP));
    let numbers = top.map_or(&[][..], |top| top.values(STATE)).iter();
    let numbers = numbers.chain(entries.iter().flat_map(|entry| entry.values(NUMBER)));
    numbers
        .filter_map(|number| PackedCsn::parse(number.as_bytes()))
        .filter(|number| number.server() != 0)
        .collect()
}

fn with_state(mut entries: Vec<ConfigEntry>, state: &CsnVector) -> Vec<ConfigEntry> {
    let numbers: Vec<String> = state.iter().map(|number| number.text()).collect();
    let mut all = entries.iter_mut();
    if let Some(top) = all.find(|entry| is(&entry.dn, TOP)) {
        set(top, STATE, numbers);
    }
    entries
}

/// Returns the identity of an entry. Files that were written by hand may have none.
fn key(entry: &ConfigEntry) -> String {
    let uuid = value(entry, IDENTITY);
    uuid.map_or_else(|| entry.dn.to_ascii_lowercase(), str::to_ascii_lowercase)
}

fn value<'e>(entry: &'e ConfigEntry, name: &str) -> Option<&'e str> {
    let mut attributes = entry.attributes.iter();
    let (_, values) = attributes.find(|(held, _)| is(held, name))?;
    values.first().map(String::as_str)
}

fn set(entry: &mut ConfigEntry, name: &str, values: Vec<String>) {
    let mut attributes = entry.attributes.iter_mut();
    match attributes.find(|(held, _)| is(held, name)) {
        Some((_, held)) => *held = values,
        None if values.is_empty() => {}
        None => entry.attributes.push((name.to_owned(), values)),
    }
}

fn without(mut entry: ConfigEntry, name: &str) -> ConfigEntry {
    entry.attributes.retain(|(held, _)| !is(held, name));
    entry
}

fn is(name: &str, other: &str) -> bool {
    name.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use fulgurite_testkit::Random;

    use super::*;

    /// A server with its files.
    struct Server {
        number: u16,
        entries: Vec<ConfigEntry>,
        clock: Cell<u64>,
    }

    fn entry(dn: &str, uuid: &str, number: &str, text: &str) -> ConfigEntry {
        let attributes = [("cn", text), (IDENTITY, uuid), (NUMBER, number)];
        let attributes = attributes.map(|(name, value)| (name.to_owned(), vec![value.to_owned()]));
        ConfigEntry {
            dn: dn.to_owned(),
            attributes: attributes.to_vec(),
        }
    }

    fn csn(time: u64, server: u16) -> String {
        format!(
            "202601{:02}{:02}{:02}00.000000Z#000000#{server:03x}#000000",
            1 + time / 1440,
            time / 60 % 24,
            time % 60
        )
    }

    impl Server {
        /// A server with an entry at the top that `slapadd` has made, without a number.
        fn new(number: u16) -> Server {
            let top = entry(
                TOP,
                &format!("top{number}"),
                &csn(u64::from(number), 0),
                "first",
            );
            Server {
                number,
                entries: vec![top],
                clock: Cell::new(100 * u64::from(number % 2)),
            }
        }

        fn change(&mut self, after: Vec<ConfigEntry>) {
            let next = |floor: Option<PackedCsn>| loop {
                self.clock.set(self.clock.get() + 1);
                let number = csn(self.clock.get(), self.number);
                if floor.is_none_or(|floor| number > floor.text()) {
                    return number;
                }
            };
            self.entries = note_change(&self.entries, after, self.number, &next);
        }

        fn take(&mut self, other: &Server) {
            let state = other.entries.iter().find(|entry| is(&entry.dn, TOP));
            let state = state.unwrap().values(STATE).to_vec();
            let merged = merge(
                self.entries.clone(),
                other.entries.clone(),
                &state,
                self.number,
            );
            self.entries = merged.entries;
            self.clock.set(self.clock.get() + 1);
        }

        fn sorted(&self) -> Vec<ConfigEntry> {
            let mut sorted = self.entries.clone();
            sorted.iter_mut().for_each(|entry| entry.attributes.sort());
            sorted.sort_by(|one, other| one.dn.cmp(&other.dn));
            sorted
        }

        fn has(&self, dn: &str) -> bool {
            self.entries.iter().any(|entry| entry.dn == dn)
        }

        fn add(&mut self, dn: &str, uuid: &str) {
            let mut after = self.entries.clone();
            after.push(entry(dn, uuid, &csn(0, 0), "new"));
            self.change(after);
        }

        fn remove(&mut self, dn: &str) {
            let mut after = self.entries.clone();
            after.retain(|entry| !entry.dn.ends_with(dn));
            self.change(after);
        }

        fn describe(&mut self, dn: &str, text: &str) {
            let mut after = self.entries.clone();
            let mut all = after.iter_mut();
            if let Some(found) = all.find(|entry| entry.dn == dn) {
                set(found, "cn", vec![text.to_owned()]);
            }
            self.change(after);
        }
    }

    #[test]
    fn additions_changes_and_deletions_reach_the_other_server() {
        let (mut one, mut two) = (Server::new(1), Server::new(2));
        one.add("cn=a,cn=config", "a");
        two.add("cn=b,cn=config", "b");
        two.take(&one);
        one.take(&two);
        assert_eq!(one.sorted(), two.sorted());
        assert!(one.has("cn=a,cn=config") && one.has("cn=b,cn=config"));
        two.remove("cn=a,cn=config");
        one.describe("cn=b,cn=config", "later");
        one.take(&two);
        assert!(!one.has("cn=a,cn=config"), "{:#?}", one.entries);
        two.take(&one);
        assert_eq!(one.sorted(), two.sorted());
        let changed = |entry: &ConfigEntry| value(entry, "cn") == Some("later");
        assert!(two.entries.iter().any(changed));
    }

    #[test]
    fn a_change_elsewhere_keeps_a_deleted_entry() {
        let (mut one, mut two) = (Server::new(1), Server::new(2));
        one.add("cn=a,cn=config", "a");
        two.take(&one);
        one.remove("cn=a,cn=config");
        two.describe("cn=a,cn=config", "changed");
        one.take(&two);
        two.take(&one);
        assert_eq!(one.sorted(), two.sorted());
        assert!(one.has("cn=a,cn=config"));
    }

    #[test]
    fn entries_of_slapadd_are_no_deletions_elsewhere() {
        let (mut one, mut two) = (Server::new(1), Server::new(2));
        one.entries
            .push(entry("cn=old,cn=config", "old", &csn(1, 0), "of slapadd"));
        // The other server has numbers without a server too, and greater ones.
        two.entries
            .push(entry("cn=more,cn=config", "more", &csn(9, 0), "of slapadd"));
        one.change(one.entries.clone());
        two.change(two.entries.clone());
        one.take(&two);
        two.take(&one);
        assert_eq!(one.sorted(), two.sorted());
        assert!(one.has("cn=old,cn=config") && one.has("cn=more,cn=config"));
    }

    #[test]
    fn one_of_two_entries_with_a_name_stays() {
        let (mut one, mut two) = (Server::new(1), Server::new(2));
        one.add("cn=a,cn=config", "a1");
        two.add("cn=a,cn=config", "a2");
        two.add("cn=below,cn=a,cn=config", "below");
        one.take(&two);
        two.take(&one);
        assert_eq!(one.sorted(), two.sorted());
    }

    #[test]
    fn servers_become_equal_in_any_order() {
        let first = fulgurite_testkit::seed("merge", 1);
        for seed in first..first + 300 {
            let mut random = Random::new(seed);
            let mut servers: Vec<Server> = (1..=3).map(Server::new).collect();
            let mut made = 0;
            for _ in 0..40 {
                let at = random.below(3);
                let from = random.below(3);
                let names = ["cn=a", "cn=b", "cn=c,cn=a"];
                let name = format!("{},cn=config", random.pick(&names));
                let has_above = !name.starts_with("cn=c") || servers[at].has("cn=a,cn=config");
                match random.below(6) {
                    0 if !servers[at].has(&name) && has_above => {
                        made += 1;
                        servers[at].add(&name, &format!("uuid{made}"));
                    }
                    1 => servers[at].remove(&name),
                    2 => servers[at].describe(&name, &format!("text{made}")),
                    _ if at != from => {
                        let other = servers.swap_remove(from);
                        let server = servers
                            .iter_mut()
                            .find(|one| one.number as usize != from + 1);
                        server.unwrap().take(&other);
                        servers.push(other);
                        servers.sort_by_key(|one| one.number);
                    }
                    _ => {}
                }
            }
            for _ in 0..3 {
                for (at, from) in [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)] {
                    let other = Server {
                        entries: servers[from].entries.clone(),
                        ..Server::new(9)
                    };
                    servers[at].take(&other);
                }
            }
            assert_eq!(servers[0].sorted(), servers[1].sorted(), "seed {seed}");
            assert_eq!(servers[1].sorted(), servers[2].sorted(), "seed {seed}");
        }
    }
}
