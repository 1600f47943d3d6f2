//! The overlays of slapd, one row each: support, and directives that a configuration may keep.

use crate::Sourced;
use crate::origin::Origin;

/// How the server treats an overlay that a configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlaySupport {
    /// The server has the feature.
    BuiltIn,
    /// The server has the feature, for a single database.
    PerDatabase,
    /// Answers or rules would differ without the overlay, so the configuration is refused; the text
    /// says how.
    Refused(&'static str),
}

/// The form of a directive's attribute in `cn=config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayValue {
    /// A value has all arguments of a line.
    Words,
    /// A value is the first argument of a line, with its blanks.
    Text,
    /// A value is TRUE or FALSE, whatever spelling the line has. A line without one is TRUE.
    Truth,
    /// Each argument is a value.
    EachWord,
    /// A value has all arguments of a line, and texts among them are in quotes.
    QuotedWords,
    /// A value has its place and all arguments of a line, and URLs among them are in quotes.
    OrderedWords,
    /// A value has all arguments of a line, the second in quotes.
    QuotedSecond,
    /// A value is a result code. slapd writes its name, whatever spelling the line has.
    ResultCode,
}

/// A directive of an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlayDirective {
    /// The word in slapd.conf.
    pub keyword: &'static str,
    /// The attribute in `cn=config`.
    pub olc: &'static str,
    /// The form of the attribute.
    pub value: OverlayValue,
    /// The value that a conversion of slapd.conf shows for an overlay without the directive.
    pub default: Option<&'static str>,
}

/// An overlay of a database, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlaySettings {
    /// The name in slapd.
    pub name: String,
    /// Its place.
    pub origin: Origin,
    /// Its directives, in the order of the configuration.
    pub lines: Vec<Sourced<OverlayLine>>,
}

/// One directive of an overlay, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayLine {
    /// The directive.
    pub directive: &'static OverlayDirective,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// One overlay of slapd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Its name in slapd.
    pub name: &'static str,
    /// Its object class in `cn=config`.
    pub olc_class: &'static str,
    /// How the server treats it.
    pub support: OverlaySupport,
    /// Its directives that a configuration may keep.
    pub directives: &'static [OverlayDirective],
}

use OverlaySupport::{BuiltIn, PerDatabase, Refused};
use OverlayValue::{EachWord, OrderedWords, QuotedSecond, QuotedWords, ResultCode, Text, Truth};

const fn row(
    name: &'static str,
    olc_class: &'static str,
    support: OverlaySupport,
    directives: &'static [OverlayDirective],
) -> Overlay {
    Overlay {
        name,
        olc_class,
        support,
        directives,
    }
}

const fn word(keyword: &'static str, olc: &'static str) -> OverlayDirective {
    written(OverlayValue::Words, keyword, olc)
}

const fn written(
    value: OverlayValue,
    keyword: &'static str,
    olc: &'static str,
) -> OverlayDirective {
    OverlayDirective {
        keyword,
        olc,
        value,
        default: None,
    }
}

const fn default(directive: OverlayDirective, value: &'static str) -> OverlayDirective {
    OverlayDirective {
        default: Some(value),
        ..directive
    }
}

/// Returns a truth value that is shown in any case.
const fn truth(keyword: &'static str, olc: &'static str) -> OverlayDirective {
    default(written(Truth, keyword, olc), "FALSE")
}

/// Every overlay of slapd.
pub const OVERLAYS: &[Overlay] = &[
    row("glue", "olcOverlayConfig", BuiltIn, &[]),
    row(
        "sssvlv",
        "olcSssVlvConfig",
        BuiltIn,
        &[
            // No defaults: the limits of one database hold for all.
            word("sssvlv-max", "olcSssVlvMax"),
            word("sssvlv-maxkeys", "olcSssVlvMaxKeys"),
            word("sssvlv-maxperconn", "olcSssVlvMaxPerConn"),
        ],
    ),
    row(
        "lastbind",
        "olcLastBindConfig",
        PerDatabase,
        &[
            default(word("lastbind-precision", "olcLastBindPrecision"), "0"),
            truth("lastbind_forward_updates", "olcLastBindForwardUpdates"),
        ],
    ),
    row("seqmod", "olcOverlayConfig", BuiltIn, &[]),
    row(
        "syncprov",
        "olcSyncProvConfig",
        PerDatabase,
        &[
            word("syncprov-checkpoint", "olcSpCheckpoint"),
            word("syncprov-sessionlog", "olcSpSessionlog"),
            word("syncprov-sessionlog-source", "olcSpSessionlogSource"),
            written(Truth, "syncprov-nopresent", "olcSpNoPresent"),
            written(Truth, "syncprov-reloadhint", "olcSpReloadHint"),
        ],
    ),
    row(
        "accesslog",
        "olcAccessLogConfig",
        PerDatabase,
        &[
            written(Text, "logdb", "olcAccessLogDB"),
            written(EachWord, "logops", "olcAccessLogOps"),
            written(QuotedSecond, "logbase", "olcAccessLogBase"),
            written(Text, "logold", "olcAccessLogOld"),
            written(EachWord, "logoldattr", "olcAccessLogOldAttr"),
            word("logpurge", "olcAccessLogPurge"),
            written(Truth, "logsuccess", "olcAccessLogSuccess"),
        ],
    ),
    row(
        "auditlog",
        "olcAuditlogConfig",
        PerDatabase,
        &[
            written(Text, "auditlog", "olcAuditlogFile"),
            written(Truth, "auditlognonblocking", "olcAuditlogNonBlocking"),
        ],
    ),
    row("deref", "olcOverlayConfig", BuiltIn, &[]),
    row(
        "valsort",
        "olcValSortConfig",
        PerDatabase,
        &[written(QuotedSecond, "valsort-attr", "olcValSortAttr")],
    ),
    row(
        "memberof",
        "olcMemberOfConfig",
        PerDatabase,
        &[
            written(Text, "memberof-dn", "olcMemberOfDN"),
            default(word("memberof-dangling", "olcMemberOfDangling"), "ignore"),
            truth("memberof-refint", "olcMemberOfRefInt"),
            word("memberof-group-oc", "olcMemberOfGroupOC"),
            word("memberof-member-ad", "olcMemberOfMemberAD"),
            word("memberof-memberof-ad", "olcMemberOfMemberOfAD"),
            written(
                ResultCode,
                "memberof-dangling-error",
                "olcMemberOfDanglingError",
            ),
            written(Truth, "memberof-addcheck", "olcMemberOfAddCheck"),
        ],
    ),
    row(
        "nestgroup",
        "olcNestGroupConfig",
        Refused("members of groups within groups would not count"),
        &[],
    ),
    row(
        "dynlist",
        "olcDynListConfig",
        PerDatabase,
        &[written(
            OrderedWords,
            "dynlist-attrset",
            "olcDynListAttrSet",
        )],
    ),
    row(
        "dyngroup",
        "olcDynGroupConfig",
        Refused("dynamic groups would be empty"),
        &[],
    ),
    row(
        "autogroup",
        "olcAutoGroupConfig",
        Refused("dynamic groups would be empty"),
        &[],
    ),
    row(
        "ppolicy",
        "olcPPolicyConfig",
        PerDatabase,
        &[
            written(Text, "ppolicy_default", "olcPPolicyDefault"),
            truth("ppolicy_hash_cleartext", "olcPPolicyHashCleartext"),
            truth("ppolicy_use_lockout", "olcPPolicyUseLockout"),
            truth("ppolicy_forward_updates", "olcPPolicyForwardUpdates"),
            truth("ppolicy_disable_write", "olcPPolicyDisableWrite"),
            truth(
                "ppolicy_send_netscape_controls",
                "olcPPolicySendNetscapeControls",
            ),
        ],
    ),
    row(
        "refint",
        "olcRefintConfig",
        PerDatabase,
        &[
            written(EachWord, "refint_attributes", "olcRefintAttribute"),
            written(Text, "refint_nothing", "olcRefintNothing"),
            written(Text, "refint_modifiersname", "olcRefintModifiersName"),
        ],
    ),
    row(
        "unique",
        "olcUniqueConfig",
        PerDatabase,
        &[
            written(Text, "unique_base", "olcUniqueBase"),
            written(EachWord, "unique_ignore", "olcUniqueIgnore"),
            written(EachWord, "unique_attributes", "olcUniqueAttribute"),
            written(Text, "unique_strict", "olcUniqueStrict"),
            written(Text, "unique_uri", "olcUniqueURI"),
        ],
    ),
    row(
        "constraint",
        "olcConstraintConfig",
        PerDatabase,
        &[written(
            QuotedWords,
            "constraint_attribute",
            "olcConstraintAttribute",
        )],
    ),
    row(
        "collect",
        "olcCollectConfig",
        Refused("collective attributes would be missing"),
        &[],
    ),
    row(
        "dds",
        "olcDDSConfig",
        Refused("dynamic entries would not expire"),
        &[],
    ),
    row(
        "otp",
        "olcOverlayConfig",
        Refused("one-time passwords would not be checked"),
        &[],
    ),
    row(
        "remoteauth",
        "olcRemoteAuthCfg",
        Refused("passwords would not be checked elsewhere"),
        &[],
    ),
    row(
        "smbk5pwd",
        "olcSmbK5PwdConfig",
        Refused("Samba and Kerberos passwords would not follow"),
        &[],
    ),
    row(
        "chain",
        "olcChainConfig",
        BuiltIn,
        &[
            truth("chain-cache-uri", "olcChainCacheURI"),
            default(word("chain-max-depth", "olcChainMaxReferralDepth"), "1"),
            truth("chain-return-error", "olcChainReturnError"),
            // The entries below the overlay, one for each server, have these.
            written(Text, "chain-uri", "olcDbURI"),
            word("chain-tls", "olcDbStartTLS"),
            word("chain-idassert-bind", "olcDbIDAssertBind"),
            written(Text, "chain-idassert-authzfrom", "olcDbIDAssertAuthzFrom"),
            written(Truth, "chain-rebind-as-user", "olcDbRebindAsUser"),
        ],
    ),
    row(
        "pbind",
        "olcPBindConfig",
        Refused("binds would not be passed on"),
        &[],
    ),
    row(
        "pcache",
        "olcPcacheConfig",
        Refused("nothing is cached from elsewhere"),
        &[],
    ),
    row(
        "proxycache",
        "olcPcacheConfig",
        Refused("nothing is cached from elsewhere"),
        &[],
    ),
    row(
        "translucent",
        "olcTranslucentConfig",
        Refused("nothing is fetched from elsewhere"),
        &[],
    ),
    row(
        "rwm",
        "olcRwmConfig",
        Refused("names would not be rewritten"),
        &[],
    ),
    row(
        "retcode",
        "olcRetcodeConfig",
        Refused("the errors asked for would not come"),
        &[],
    ),
    row(
        "homedir",
        "olcHomedirConfig",
        Refused("home directories would not be made"),
        &[],
    ),
];

/// Returns the overlay of a name, in any case of letters.
#[must_use]
pub fn find_overlay(name: &str) -> Option<&'static Overlay> {
    let mut overlays = OVERLAYS.iter();
    overlays.find(|overlay| overlay.name.eq_ignore_ascii_case(name))
}

/// Returns the overlay that has a directive of slapd.conf.
#[must_use]
pub fn overlay_of(keyword: &str) -> Option<&'static Overlay> {
    OVERLAYS.iter().find(|overlay| {
        let mut directives = overlay.directives.iter();
        directives.any(|directive| directive.keyword.eq_ignore_ascii_case(keyword))
    })
}

impl OverlaySettings {
    /// Returns the first argument of the last line of a directive.
    #[must_use]
    pub fn last(&self, keyword: &str) -> Option<&str> {
        let mut lines = self.lines.iter().rev();
        let line = lines.find(|line| line.directive.keyword == keyword)?;
        Some(line.first())
    }

    /// Returns the overlay of a name without directives.
    #[must_use]
    pub fn new(name: &str, origin: Origin) -> OverlaySettings {
        OverlaySettings {
            name: name.to_owned(),
            origin,
            lines: Vec::new(),
        }
    }
}

impl OverlayLine {
    /// Returns the first argument; empty if there is none.
    #[must_use]
    pub fn first(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }
}

/// Reads a truth value in slapd's spellings. Without a text, it is true.
#[must_use]
pub fn overlay_truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "" | "true" | "on" | "yes" => Some(true),
        "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

impl Overlay {
    /// Returns the directive of a keyword or an attribute, in any case of letters.
    #[must_use]
    pub fn directive(&self, name: &str) -> Option<&'static OverlayDirective> {
        self.directives.iter().find(|known| {
            known.keyword.eq_ignore_ascii_case(name) || known.olc.eq_ignore_ascii_case(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_overlay_and_no_directive_is_named_twice() {
        let mut names: Vec<&str> = OVERLAYS.iter().map(|overlay| overlay.name).collect();
        let directives = OVERLAYS.iter().flat_map(|overlay| overlay.directives);
        names.extend(directives.map(|directive| directive.olc));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_directive_names_its_overlay() {
        let owner = |word| overlay_of(word).map(|overlay| overlay.name);
        assert_eq!(owner("SSSVLV-MAX"), Some("sssvlv"));
        assert_eq!(owner("sizelimit"), None);
        let sssvlv = find_overlay("sssvlv").unwrap();
        let by_attribute = sssvlv.directive("OLCSSSVLVMAX").unwrap();
        assert_eq!(by_attribute.keyword, "sssvlv-max");
    }
}
