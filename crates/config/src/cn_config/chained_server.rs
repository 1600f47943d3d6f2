//! The entries below an overlay `chain`: one for each server, and one for all others.

use fulgurite_policy::{OverlayDirective, OverlayLine, OverlaySettings, find_overlay};

use super::entry::ConfigEntry;
use super::file_entry::FileEntry;
use super::overlay;
use crate::Sourced;

/// The attribute that begins a server.
const URI: &str = "olcDbURI";

/// Attributes of slapd's entries that have no meaning here, because only updates are passed on.
const UNUSED: [&str; 16] = [
    "olcDbACLBind",
    "olcDbCancel",
    "olcDbChaseReferrals",
    "olcDbConnTtl",
    "olcDbConnectionPoolMax",
    "olcDbIdleTimeout",
    "olcDbKeepalive",
    "olcDbNetworkTimeout",
    "olcDbNoRefs",
    "olcDbNoUndefFilter",
    "olcDbOnErr",
    "olcDbProtocolVersion",
    "olcDbProxyWhoAmI",
    "olcDbSessionTrackingRequest",
    "olcDbSingleConn",
    "olcDbTFSupport",
];

/// One more of them, which has too long a name for the line.
const TEMPORARY: &str = "olcDbUseTemporaryConn";

/// Returns true for a directive of a server.
pub(super) fn has(directive: &OverlayDirective) -> bool {
    directive.olc.starts_with("olcDb")
}

/// Returns true for an attribute of a server that has no meaning here.
pub(super) fn is_unused(attribute: &str) -> bool {
    let mut names = UNUSED.iter().chain([&TEMPORARY]);
    names.any(|name| name.eq_ignore_ascii_case(attribute))
}

/// Returns the entries of the servers of an overlay; `above` is its name.
pub(super) fn entries(overlay: &OverlaySettings, above: &str) -> Vec<ConfigEntry> {
    if !overlay.name.eq_ignore_ascii_case("chain") {
        return Vec::new();
    }
    // As in slapd, the first is about all others, even if nothing is said about them.
    let mut servers: Vec<Vec<&OverlayLine>> = vec![Vec::new()];
    for line in overlay.lines.iter().map(|line| &line.value) {
        if line.directive.olc == URI {
            servers.push(Vec::new());
        }
        if let Some(server) = servers.last_mut().filter(|_| has(line.directive)) {
            server.push(line);
        }
    }
    let servers = servers.iter().enumerate();
    servers
        .map(|(at, lines)| {
            let name = format!("{{{at}}}ldap");
            let dn = format!("olcDatabase={name},{above}");
            let classes = ["olcLDAPConfig", "olcChainDatabase"];
            let mut entry = ConfigEntry::new(dn, &classes, "olcDatabase", &name);
            for line in lines {
                entry.add(line.directive.olc, overlay::shown(line));
            }
            entry
        })
        .collect()
}

/// Returns the directives of the entry of a server, that of its URL first, and the names and lines
/// of attributes that are unknown.
pub(super) fn lines(
    entry: &FileEntry,
) -> (
    Vec<Sourced<fulgurite_policy::OverlayLine>>,
    Vec<(String, usize)>,
) {
    let row = find_overlay("chain");
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (attribute, value, line) in &entry.values {
        let directive = row.and_then(|row| row.directive(attribute));
        match directive.filter(|directive| has(directive)) {
            Some(directive) => {
                let value = Sourced::new(value.clone(), entry.origin(*line));
                known.push(overlay::line(directive, &value));
            }
            None if is_unused(attribute) => {}
            None => unknown.push((attribute.clone(), *line)),
        }
    }
    known.sort_by_key(|line| line.value.directive.olc != URI);
    (known, unknown)
}
