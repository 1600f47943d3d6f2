//! The definitions that come with the server, as schema files read by the same parser as anybody's.
//!
//! Names, OIDs and relations are those of the RFCs and of what servers in the field publish; the wording is ours.

use crate::registry::Builtin;

/// Name and text of a built-in part.
pub(crate) type Source = (&'static str, &'static str);

/// Always present.
pub(crate) const SYSTEM: Source = ("builtin/system", include_str!("system.schema"));

/// Present unless defined elsewhere.
pub(crate) const SPARE: Source = ("builtin/spare", include_str!("spare.schema"));

/// The text of a selectable part.
pub(crate) fn source(part: Builtin) -> Source {
    match part {
        Builtin::Core => ("builtin/core", include_str!("core.schema")),
        Builtin::Cosine => ("builtin/cosine", include_str!("cosine.schema")),
        Builtin::InetOrgPerson => (
            "builtin/inetorgperson",
            include_str!("inetorgperson.schema"),
        ),
        Builtin::Nis => ("builtin/nis", include_str!("nis.schema")),
        Builtin::Rfc2307bis => ("builtin/rfc2307bis", include_str!("rfc2307bis.schema")),
    }
}
