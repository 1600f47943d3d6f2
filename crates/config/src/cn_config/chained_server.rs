//! The entries below an overlay `chain`: one for each server, and one for all others.

use fulgurite_policy::{OverlayLine, OverlaySettings, find_overlay};

use super::entry::ConfigEntry;
use super::file_entry::FileEntry;
use super::overlay;
use crate::Sourced;

/// The attribute that begins a server.
const URI: &str = "olcDbURI";

/// Attributes of slapd's entries that have no meaning here, because only updates are passed on.
const UNUSED: [&str; 17] = [
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
    "olcDbUseTemporaryConn",
];

/// Returns true for an attribute of a server that has no meaning here.
pub(super) fn is_unused(attribute: &str) -> bool {
    let mut names = UNUSED.iter();
    names.any(|name| name.eq_ignore_ascii_case(attribute))
}

/// Returns the entries of the servers of an overlay; `above` is its name.
pub(super) fn entries(overlay: &OverlaySettings, above: &str) -> Vec<ConfigEntry> {
    if !overlay.name.eq_ignore_ascii_case("chain") {
        return Vec::new();
    }
    // As in slapd, the first is about all other servers. It may be empty.
    let mut servers: Vec<Vec<&OverlayLine>> = vec![Vec::new()];
    for line in overlay.lines.iter().map(|line| &line.value) {
        if line.directive.olc == URI {
            servers.push(Vec::new());
        }
        if let Some(server) = servers
            .last_mut()
            .filter(|_| overlay::is_below(line.directive))
        {
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

/// The directives of a server, and the names and lines of unknown attributes.
type ServerLines = (Vec<Sourced<OverlayLine>>, Vec<(String, usize)>);

/// Returns the directives of the entry of a server, that of its URL first.
pub(super) fn lines(entry: &FileEntry) -> ServerLines {
    let row = find_overlay("chain");
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (attribute, value, line) in &entry.values {
        let directive = row.and_then(|row| row.directive(attribute));
        match directive.filter(|directive| overlay::is_below(directive)) {
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
