//! What holds for the whole server.

use std::num::NonZeroU32;
use std::path::PathBuf;

use crate::{ConfigError, NamedValues};

use fulgurite_policy::{
    Allow, AuthzPolicy, BuiltinSchema, CrlCheck, Disallow, LogLevel, TlsVersion, VerifyClient,
};

use super::settings;
use crate::listen::ListenUrl;
use crate::setting::{Setting, Value, number_text, text};
use crate::words::{quoted, split_words};

/// How many threads answer requests; none for one per core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads(pub Option<u32>);

impl Setting for Threads {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "cores" => Ok(Self(None)),
            value => match NonZeroU32::read(value) {
                Ok(threads) if threads.get() <= 1024 => Ok(Self(Some(threads.get()))),
                _ => Err(
                    "a number from 1 to 1024, or \"cores\" for one thread per core, is wanted"
                        .to_owned(),
                ),
            },
        }
    }

    fn show(&self) -> String {
        self.0
            .map_or_else(|| "cores".to_owned(), |threads| threads.to_string())
    }
}

/// This server's number in change sequence numbers, and the listener it is the number of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerId {
    /// From 0 to 4095.
    pub id: u16,
    /// The listener's URL where several servers share one configuration.
    pub url: Option<String>,
}

impl ServerId {
    /// Reads the words after `serverID`.
    pub(crate) fn from_words(words: &[&str]) -> Option<Self> {
        let [number, rest @ ..] = words else {
            return None;
        };
        let id = crate::quantity::parse_c_int(number).and_then(|id| u16::try_from(id).ok());
        id.filter(|id| *id <= 0xfff).map(|id| Self {
            id,
            url: rest.first().map(|url| (*url).to_owned()),
        })
    }
}

impl Setting for ServerId {
    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        Self::from_words(&words).ok_or_else(|| {
            format!("\"{text}\" is no number from 0 to 4095, with or without a URL after it")
        })
    }

    fn show(&self) -> String {
        match &self.url {
            Some(url) => format!("{} {url}", self.id),
            None => self.id.to_string(),
        }
    }
}

/// One rule that makes names of what SASL mechanisms say: a regular expression and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzRegexp {
    /// The expression, matched against `uid=...,cn=...,cn=auth`.
    pub pattern: String,
    /// A name or an LDAP URL, with `$1` and so on.
    pub replacement: String,
}

impl Setting for AuthzRegexp {
    fn read(value: Value) -> Result<Self, String> {
        let words = match value {
            Value::List(items) => items
                .into_iter()
                .map(|item| text(item.value))
                .collect::<Result<_, _>>()?,
            one => split_words(&text(one)?)?,
        };
        match <[String; 2]>::try_from(words) {
            Ok([pattern, replacement]) => Ok(Self {
                pattern,
                replacement,
            }),
            Err(_) => Err("an expression and what takes its place are wanted".to_owned()),
        }
    }

    fn show(&self) -> String {
        format!("{} {}", quoted(&self.pattern), quoted(&self.replacement))
    }
}

/// A piece of schema, in the order in which it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaPart {
    /// A file: `.schema`, cn=schema LDIF or plain RFC 4512 LDIF.
    File(PathBuf),
    /// What stands after `attributetype`.
    AttributeType(String),
    /// What stands after `objectclass`.
    ObjectClass(String),
    /// What stands after `objectidentifier`.
    ObjectIdentifier(String),
    /// What stands after `ditcontentrule`.
    DitContentRule(String),
    /// What stands after `ldapsyntax`.
    LdapSyntax(String),
}

impl Setting for SchemaPart {
    fn read(value: Value) -> Result<Self, String> {
        PathBuf::read(value).map(Self::File)
    }

    fn show(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::AttributeType(text) => format!("attributetype {text}"),
            Self::ObjectClass(text) => format!("objectclass {text}"),
            Self::ObjectIdentifier(text) => format!("objectidentifier {text}"),
            Self::DitContentRule(text) => format!("ditcontentrule {text}"),
            Self::LdapSyntax(text) => format!("ldapsyntax {text}"),
        }
    }

    fn items(text: &str) -> Vec<String> {
        PathBuf::items(text)
    }
}

impl Setting for ListenUrl {
    fn read(value: Value) -> Result<Self, String> {
        text(value)?.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn items(text: &str) -> Vec<String> {
        PathBuf::items(text)
    }
}

settings! {
    /// What holds for the whole server.
    Global / GlobalLayer {
        /// Which definitions are there before any schema file.
        "schema_builtin" schema_builtin: BuiltinSchema = BuiltinSchema::Standard;
        /// Whether the RFC 2307bis definitions take the place of RFC 2307's.
        "rfc2307bis" rfc2307bis: bool = false;
        /// Threads that answer requests.
        "threads" threads: Threads = Threads(None);
        /// Threads of the offline tools.
        "tool_threads" tool_threads: u32 = 1;
        /// Whether `cn=Monitor` is served even if no database of that type is declared.
        "monitor" monitor: bool = false;
        /// File that gets the process id.
        "pid_file" pid_file: Option<PathBuf> = None;
        /// File that gets the command line.
        "args_file" args_file: Option<PathBuf> = None;
        /// Features that are off unless allowed.
        "allow" allow: Allow = Allow::default();
        /// Features that are on unless refused.
        "disallow" disallow: Disallow = Disallow::default();
        /// Base of searches whose base is empty.
        "default_search_base" default_search_base: Option<String> = None;
        /// Attributes whose values are kept sorted.
        "sort_values" sort_values: Vec<String> = Vec::new();
        /// Options of attributes beside `lang-`.
        "attribute_options" attribute_options: Vec<String> = Vec::new();
        /// Whether the names of clients' hosts are looked up.
        "reverse_lookup" reverse_lookup: bool = false;
        /// On SIGHUP: end gently instead of reading the settings again.
        "gentle_hup" gentle_hup: bool = false;
        /// Octets of one request of a bound client.
        "limits.request_bytes" request_bytes: u64 = 4 << 20;
        /// Octets of one request of an anonymous client.
        "limits.request_bytes_anonymous" request_bytes_anonymous: u64 = 256 << 10;
        /// Connections at once.
        "limits.connections" connections: NonZeroU32 = at_least_one(10_000);
        /// Requests of one connection waiting at once; further ones stay unread in the socket.
        "limits.pending" pending: NonZeroU32 = at_least_one(1000);
        /// The same before a bind.
        "limits.pending_anonymous" pending_anonymous: NonZeroU32 = at_least_one(100);
        /// Requests of all connections bound as one identity waiting at once; further ones are answered with busy.
        "limits.pending_identity" pending_identity: NonZeroU32 = at_least_one(10_000);
        /// Seconds without a request after which a connection is closed.
        "limits.idle" idle: Option<u32> = None;
        /// Seconds a client may take to read what it was sent before its connection is closed.
        "limits.write" write: Option<u32> = Some(120);
        /// Nesting of and, or, not in a filter.
        "limits.filter_depth" filter_depth: NonZeroU32 = at_least_one(1000);
        /// Schemes of new passwords, the first that is known; none for Argon2id.
        "password.hash" password_hash: Vec<String> = Vec::new();
        /// Salt of `{CRYPT}`, in the form of `printf`.
        "password.crypt_salt_format" crypt_salt_format: Option<String> = None;
        /// SCRAM mechanisms whose keys are kept when a password is set: `SCRAM-SHA-256` and so on.
        "password.scram_keys" scram_keys: Vec<String> = Vec::new();
        /// Who says that one may act as another.
        "authz.policy" authz_policy: AuthzPolicy = AuthzPolicy::None;
        /// SASL realm.
        "sasl.realm" sasl_realm: Option<String> = None;
        /// Name of this host for SASL.
        "sasl.host" sasl_host: Option<String> = None;
        /// Properties that mechanisms must have: `noplain`, `noanonymous`, `minssf=N` and so on.
        "sasl.security" sasl_security: Vec<String> = vec!["noanonymous".to_owned(), "noplain".to_owned()];
        /// Channel binding: `none`, `tls-unique` or `tls-endpoint`.
        "sasl.channel_binding" sasl_channel_binding: Option<String> = None;
        /// Strength that a local socket counts as.
        "local_ssf" local_ssf: u32 = 71;
        /// Certificate and those above it, PEM.
        "tls.certificate" tls_certificate: Option<PathBuf> = None;
        /// Its private key, PEM.
        "tls.key" tls_key: Option<PathBuf> = None;
        /// Certificates by which clients' are verified, PEM.
        "tls.ca" tls_ca: Option<PathBuf> = None;
        /// A directory of such certificates.
        "tls.ca_directory" tls_ca_directory: Option<PathBuf> = None;
        /// Cipher suites, in OpenSSL's or GnuTLS's words.
        "tls.ciphers" tls_ciphers: Option<String> = None;
        /// Parameters for Diffie-Hellman; not needed by this server.
        "tls.dh_parameters" tls_dh_parameters: Option<PathBuf> = None;
        /// Elliptic curves.
        "tls.curves" tls_curves: Option<String> = None;
        /// Least version of TLS: `1.2`, `1.3`, or as slapd counts, `3.3`, `3.4`.
        "tls.protocol_min" tls_protocol_min: TlsVersion = TlsVersion::Tls12;
        /// What is asked of a client's certificate.
        "tls.verify_client" tls_verify_client: VerifyClient = VerifyClient::Never;
        /// Which certificates are looked for in lists of revoked ones.
        "tls.crl_check" tls_crl_check: CrlCheck = CrlCheck::None;
        /// A list of revoked certificates.
        "tls.crl" tls_crl: Option<PathBuf> = None;
        /// How much is logged.
        "log.level" log_level: LogLevel = LogLevel::Info;
        /// Whether every operation gets a line.
        "log.operations" log_operations: bool = false;
        /// The file that gets the log instead of standard error.
        "log.file" log_file: Option<PathBuf> = None;
        /// slapd's log levels, as a mask; for `cn=Monitor` and `cn=config`.
        "log.slapd_levels" log_mask: u32 = 0;
        /// A directory of schema files, read after those named, in the order of their names.
        "start.schema_directory" schema_directory: Option<PathBuf> = None;
        /// A directory of LDIF files whose entries are added at each start, as far as they are not there yet.
        "start.ldif_directory" ldif_directory: Option<PathBuf> = None;
        /// Whether the entry at the top of the data is made at start if there is none.
        "start.create_suffix" create_suffix: bool = false;
        /// The organization it is named after.
        "start.organization" organization: Option<String> = None;
        /// Whether index keys are hashes of 64 bits.
        "index_keys.hash64" index_hash64: bool = true;
        /// Octets of an integer's index key.
        "index_keys.int_len" index_int_len: u32 = 4;
        /// Least length of initial and final parts in the substring index.
        "index_keys.substr_if_min_len" substr_if_min_len: u32 = 2;
        /// Greatest length of the same.
        "index_keys.substr_if_max_len" substr_if_max_len: u32 = 4;
        /// Length of inner parts in the substring index.
        "index_keys.substr_any_len" substr_any_len: u32 = 4;
        /// Steps between inner parts.
        "index_keys.substr_any_step" substr_any_step: u32 = 2;
    } {
        /// Addresses to listen on; `ldap://127.0.0.1:389` unless set.
        "listen" listen: ListenUrl;
        /// Schema beside the built-in one, in order.
        "schema" schema: SchemaPart;
        /// This server's number.
        "server_id" server_ids: ServerId;
        /// Where clients are sent for names that no database holds.
        "referral" referrals: String;
        /// LDIF files whose attributes the root DSE has as well.
        "root_dse" root_dse: PathBuf;
        /// Rules that make names of what SASL mechanisms say.
        "authz.regexp" authz_regexp: AuthzRegexp;
    }
}

impl Global {
    /// What the files named by `root_dse` add to the root DSE: attributes with their values. Reads the files.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] for a file that is no LDIF of an entry without a name.
    pub fn root_dse_attributes(&self) -> Result<Vec<NamedValues>, ConfigError> {
        let mut attributes: Vec<NamedValues> = Vec::new();
        for file in &self.root_dse {
            let octets = std::fs::read(&file.value).map_err(|cause| ConfigError::Unreadable {
                what: "root DSE file",
                path: file.value.clone(),
                cause,
            })?;
            let wrong = |line: u64, message: String| {
                let path = file.value.clone();
                let line = usize::try_from(line).unwrap_or(usize::MAX);
                ConfigError::Directive {
                    path,
                    line,
                    message,
                }
            };
            let mut ldif = fulgurite_ldif::Reader::new(octets.as_slice());
            while let Some(record) = ldif
                .next_record()
                .map_err(|error| wrong(error.line, error.kind.to_string()))?
            {
                let fulgurite_ldif::Action::Content(values) = record.action() else {
                    return Err(wrong(
                        record.line(),
                        "this is a change, not an entry".to_owned(),
                    ));
                };
                if !record.dn().is_empty() {
                    let message =
                        format!("the root DSE has no name, this entry has: {}", record.dn());
                    return Err(wrong(record.line(), message));
                }
                for value in values {
                    let same =
                        |(name, _): &&mut (String, _)| name.eq_ignore_ascii_case(value.description);
                    match attributes.iter_mut().find(same) {
                        Some((_, values)) => values.push(value.value.to_vec()),
                        None => attributes
                            .push((value.description.to_owned(), vec![value.value.to_vec()])),
                    }
                }
            }
        }
        Ok(attributes)
    }
}

const fn at_least_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
