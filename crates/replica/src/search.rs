//! The search of a synchronisation.

use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{
    Control, Deref, FilterBuf, MessageId, Request, Scope, SearchRequest, encode, oid,
};
use fulgurite_policy::{SyncScope, Syncrepl};

use crate::trouble::Trouble;

/// The attributes of log entries that a consumer reads.
const LOG_ATTRIBUTES: [&str; 9] = [
    "reqDN",
    "reqType",
    "reqMod",
    "reqNewRDN",
    "reqDeleteOldRDN",
    "reqNewSuperior",
    "reqControls",
    "reqEntryUUID",
    "entryCSN",
];

/// The content that a search is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The entries themselves.
    Entries,
    /// The access log.
    Log,
}

/// Appends the request.
///
/// # Errors
/// [`Trouble::Protocol`] for a filter that is none, which the configuration refuses.
pub(crate) fn write(
    out: &mut Vec<u8>,
    id: MessageId,
    settings: &Syncrepl,
    (source, mode): (Source, SyncMode),
    cookie: &[u8],
) -> Result<(), Trouble> {
    let everything = "(objectclass=*)";
    let log_filter = settings.log_filter.as_deref();
    let (base, filter) = match source {
        Source::Entries => (settings.search_base.as_str(), settings.filter.as_str()),
        Source::Log => (
            settings.log_base.as_deref().unwrap_or_default(),
            log_filter.unwrap_or(everything),
        ),
    };
    let filter = FilterBuf::parse(filter).map_err(|_| Trouble::Protocol("the filter is none"))?;
    let attributes = attributes(settings, source);
    let search = SearchRequest {
        base: base.as_bytes(),
        scope: match (source, settings.scope) {
            (Source::Log, _) | (_, SyncScope::Subtree) => Scope::Subtree,
            (_, SyncScope::Base) => Scope::Base,
            (_, SyncScope::One) => Scope::One,
            (_, SyncScope::Subordinate) => Scope::Children,
        },
        deref: Deref::Never,
        size_limit: settings.size_limit,
        time_limit_s: settings.time_limit_s,
        types_only: settings.attributes_only && source == Source::Entries,
        filter: filter.filter(),
        attributes: attributes.iter().map(String::as_bytes).collect(),
    };
    let value = SyncRequest {
        mode,
        cookie: Some(cookie),
        reload_hint: source == Source::Entries,
    };
    let value = value.encode();
    let sync = Control::with_value(oid::SYNC_REQUEST, false, &value);
    let managed = settings.manage_dsa_it.then(Control::manage_dsa_it);
    let controls: Vec<_> = [Some(sync), managed].into_iter().flatten().collect();
    encode::request(out, id, &Request::Search(search), &controls);
    Ok(())
}

fn attributes(settings: &Syncrepl, source: Source) -> Vec<String> {
    if source == Source::Log {
        return LOG_ATTRIBUTES.map(str::to_owned).to_vec();
    }
    settings.copied_attributes()
}
