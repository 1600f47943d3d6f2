//! The definitions that come with the server, as schema files for the common parser.
//!
//! Names, OIDs and relations are those of the RFCs and of existing servers. The wording is ours.

use crate::definition::Origin;

/// A built-in text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// How errors call it.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) origin: Origin,
}

macro_rules! source {
    ($file:literal, $origin:ident) => {
        Source {
            name: concat!("builtin/", $file),
            text: include_str!(concat!($file, ".schema")),
            origin: Origin::$origin,
        }
    };
}

/// Always present. The hidden ones are in force but not published, as in slapd.
pub(crate) const ALWAYS: [Source; 4] = [
    source!("system", Builtin),
    source!("hidden", Hidden),
    source!("config", Builtin),
    source!("monitor", Hidden),
];

/// Present unless defined elsewhere.
pub(crate) const SPARE: Source = source!("spare", Builtin);

/// The definitions that come with the server and may be chosen by name.
///
/// A part brings the parts that it needs ([`requires`](Self::requires)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// RFC 4519, RFC 4523, RFC 2079 and others.
    Core,
    /// RFC 4524.
    Cosine,
    /// RFC 2798.
    InetOrgPerson,
    /// RFC 2307: posixGroup is structural.
    Nis,
    /// The RFC 2307bis draft: posixGroup is auxiliary. Excludes [`Builtin::Nis`].
    Rfc2307bis,
    /// OpenLDAP's own classes.
    OpenLdap,
    /// Mail routing and other things in wide use.
    Misc,
    /// groupOfURLs.
    DynGroup,
    /// Profiles of directory clients (RFC 4876).
    DuaConf,
    /// Collective attributes (RFC 3671).
    Collective,
    /// CORBA objects (RFC 2714).
    Corba,
    /// Java objects (RFC 2713).
    Java,
    /// Attribute certificates (X.509).
    Pmi,
    /// namedObject.
    NamedObject,
    /// Names of Active Directory.
    MsUser,
    /// Names of Sun's directory server.
    Dsee,
    /// Password policies (draft-behera-ldap-password-policy).
    PasswordPolicy,
    /// Records of an access log.
    AccessLog,
    /// The configuration of overlays and further backends below cn=config.
    Overlays,
    /// eduPerson.
    EduPerson,
    /// sudoRole.
    Sudo,
    /// ldapPublicKey.
    OpensshLpk,
    /// Samba's accounts, groups and domains.
    Samba,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Builtin; 23] = [
        Builtin::Core,
        Builtin::Cosine,
        Builtin::InetOrgPerson,
        Builtin::Nis,
        Builtin::Rfc2307bis,
        Builtin::OpenLdap,
        Builtin::Misc,
        Builtin::DynGroup,
        Builtin::DuaConf,
        Builtin::Collective,
        Builtin::Corba,
        Builtin::Java,
        Builtin::Pmi,
        Builtin::NamedObject,
        Builtin::MsUser,
        Builtin::Dsee,
        Builtin::PasswordPolicy,
        Builtin::AccessLog,
        Builtin::Overlays,
        Builtin::EduPerson,
        Builtin::Sudo,
        Builtin::OpensshLpk,
        Builtin::Samba,
    ];

    /// Returns the name by which configurations choose it: that of the usual schema file, without
    /// `.schema`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let source = self.source();
        source.name.strip_prefix("builtin/").unwrap_or(source.name)
    }

    /// Returns a part by name, in any case.
    #[must_use]
    pub fn find(name: &str) -> Option<Builtin> {
        Builtin::ALL
            .into_iter()
            .find(|part| part.name().eq_ignore_ascii_case(name))
    }

    /// Returns the parts that this one's definitions refer to.
    #[must_use]
    pub fn requires(self) -> &'static [Builtin] {
        match self {
            Builtin::Core
            | Builtin::PasswordPolicy
            | Builtin::AccessLog
            | Builtin::Overlays
            | Builtin::Sudo
            | Builtin::EduPerson
            | Builtin::OpensshLpk => &[],
            Builtin::Cosine => &[Builtin::Core],
            Builtin::MsUser | Builtin::Samba | Builtin::OpenLdap => {
                &[Builtin::Core, Builtin::Cosine, Builtin::InetOrgPerson]
            }
            _ => &[Builtin::Core, Builtin::Cosine],
        }
    }

    /// Returns its text.
    pub(crate) fn source(self) -> Source {
        match self {
            Builtin::Core => source!("core", Builtin),
            Builtin::Cosine => source!("cosine", Builtin),
            Builtin::InetOrgPerson => source!("inetorgperson", Builtin),
            Builtin::Nis => source!("nis", Builtin),
            Builtin::Rfc2307bis => source!("rfc2307bis", Builtin),
            Builtin::OpenLdap => source!("openldap", Builtin),
            Builtin::Misc => source!("misc", Builtin),
            Builtin::DynGroup => source!("dyngroup", Builtin),
            Builtin::DuaConf => source!("duaconf", Builtin),
            Builtin::Collective => source!("collective", Builtin),
            Builtin::Corba => source!("corba", Builtin),
            Builtin::Java => source!("java", Builtin),
            Builtin::Pmi => source!("pmi", Builtin),
            Builtin::NamedObject => source!("namedobject", Builtin),
            Builtin::MsUser => source!("msuser", Builtin),
            Builtin::Dsee => source!("dsee", Builtin),
            Builtin::PasswordPolicy => source!("ppolicy", Builtin),
            Builtin::AccessLog => source!("accesslog", Builtin),
            Builtin::Overlays => source!("overlays", Builtin),
            Builtin::EduPerson => source!("eduperson", Builtin),
            Builtin::Sudo => source!("sudo", Builtin),
            Builtin::OpensshLpk => source!("openssh-lpk", Builtin),
            Builtin::Samba => source!("samba", Builtin),
        }
    }
}
