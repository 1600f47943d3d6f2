//! Overlays of slapd: which are built in, which may be left out, and which must not be.

/// What becomes of an overlay that a configuration asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The server does it without being asked.
    BuiltIn,
    /// Without it the data mean the same; what is missing then.
    LeftOut(&'static str),
    /// Without it answers or rules would be others: the configuration is refused.
    Refused(&'static str),
}

/// Each overlay with its fate.
const OVERLAYS: &[(&str, Fate)] = &[
    ("glue", Fate::BuiltIn),
    ("sssvlv", Fate::BuiltIn),
    ("lastbind", Fate::BuiltIn),
    (
        "syncprov",
        Fate::LeftOut("other servers cannot copy this one"),
    ),
    ("accesslog", Fate::LeftOut("no log of accesses is written")),
    ("auditlog", Fate::LeftOut("no log of changes is written")),
    (
        "deref",
        Fate::LeftOut("searches do not follow DN attributes"),
    ),
    (
        "valsort",
        Fate::LeftOut("values come in the order in which they were stored"),
    ),
    (
        "memberof",
        Fate::Refused("groups would not show in the entries of their members"),
    ),
    (
        "nestgroup",
        Fate::Refused("members of groups within groups would not count"),
    ),
    ("dynlist", Fate::Refused("dynamic groups would be empty")),
    ("dyngroup", Fate::Refused("dynamic groups would be empty")),
    ("autogroup", Fate::Refused("dynamic groups would be empty")),
    ("ppolicy", Fate::Refused("no password policy would hold")),
    (
        "refint",
        Fate::Refused("references to deleted entries would stay"),
    ),
    ("unique", Fate::Refused("values would not be kept unique")),
    ("constraint", Fate::Refused("values would not be checked")),
    (
        "collect",
        Fate::Refused("collective attributes would be missing"),
    ),
    ("dds", Fate::Refused("dynamic entries would not expire")),
    (
        "otp",
        Fate::Refused("one-time passwords would not be checked"),
    ),
    (
        "remoteauth",
        Fate::Refused("passwords would not be checked elsewhere"),
    ),
    (
        "smbk5pwd",
        Fate::Refused("Samba and Kerberos passwords would not follow"),
    ),
    ("chain", Fate::Refused("referrals would not be followed")),
    ("pbind", Fate::Refused("binds would not be passed on")),
    ("pcache", Fate::Refused("nothing is cached from elsewhere")),
    (
        "proxycache",
        Fate::Refused("nothing is cached from elsewhere"),
    ),
    (
        "translucent",
        Fate::Refused("nothing is fetched from elsewhere"),
    ),
    ("rwm", Fate::Refused("names would not be rewritten")),
    (
        "retcode",
        Fate::Refused("the errors asked for would not come"),
    ),
    ("seqmod", Fate::BuiltIn),
    (
        "homedir",
        Fate::Refused("home directories would not be made"),
    ),
];

/// Directives of the overlays that a configuration may keep.
const DIRECTIVES: &[(&str, &str)] = &[
    ("syncprov-checkpoint", "syncprov"),
    ("syncprov-sessionlog", "syncprov"),
    ("syncprov-sessionlog-source", "syncprov"),
    ("syncprov-nopresent", "syncprov"),
    ("syncprov-reloadhint", "syncprov"),
    ("sssvlv-max", "sssvlv"),
    ("sssvlv-maxkeys", "sssvlv"),
    ("sssvlv-maxperconn", "sssvlv"),
    ("valsort-attr", "valsort"),
    ("auditlog", "auditlog"),
    ("logdb", "accesslog"),
    ("logops", "accesslog"),
    ("logbase", "accesslog"),
    ("logold", "accesslog"),
    ("logoldattr", "accesslog"),
    ("logpurge", "accesslog"),
    ("logsuccess", "accesslog"),
    ("lastbind-precision", "lastbind"),
    ("lastbind_forward_updates", "lastbind"),
];

/// What becomes of the overlay; nothing if slapd has none of that name.
pub(crate) fn fate(name: &str) -> Option<Fate> {
    let known = OVERLAYS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, fate)| *fate)
}

/// The overlay that has a directive of that name.
pub(crate) fn owner(keyword: &str) -> Option<&'static str> {
    let known = DIRECTIVES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(keyword));
    known.map(|(_, overlay)| *overlay)
}
