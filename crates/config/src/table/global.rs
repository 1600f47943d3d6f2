//! Settings of the whole server.

use std::num::NonZeroU32;
use std::path::PathBuf;

use fulgurite_policy::{
    Allow, AuditFormat, AuthzPolicy, BuiltinSchema, ClusterReads, CrlCheck, Disallow, LogFormat,
    LogLevel, ReplicatedState, TlsVersion, VerifyClient,
};

use super::flag::{Flag, FlagGroup};
use super::group::settings;
use super::readers::{
    add_attribute_options, add_features, add_words, at_least_one, log_levels, referral, server_id,
    substr_if_max_len, substr_if_min_len, threads, zero_unless_positive,
};
use super::security::{
    authz_regexp, crl_check, protocol_min, sasl_secprops, written_crl_check, written_protocol_min,
    written_regexp,
};
use super::spec::{Scope, own, slapd};
use crate::Sourced;
use crate::interval::Interval;
use crate::levels::{self, level_names};
use crate::listen::ListenUrl;
use crate::names::{AuthzRegexp, SchemaPart, ServerId, Threads};
use crate::socket_address::SocketAddress;
use crate::tcp_buffer::TcpBuffer;

settings! {
    /// Settings of the whole server.
    Global / GlobalLayer {
        /// Definitions that exist before any schema file: `standard` (core, cosine, inetorgperson,
        /// nis) or `system`. The latter has only those that the server itself needs.
        "schema_builtin" schema_builtin: BuiltinSchema = BuiltinSchema::Standard => own();
        /// Use the definitions of RFC 2307bis in place of those of RFC 2307: groups are
        /// `groupOfNames` and `posixGroup`.
        "rfc2307bis" rfc2307bis: bool = false => own().flag(Flag::switch("--rfc2307bis", true).of(FlagGroup::Schema));
        /// Threads that answer requests, or `cores` for one per core.
        "threads" threads: Threads = Threads(None)
            => slapd("threads", "olcThreads", "<count>").read(threads).flag(Flag::value("--threads", "NUMBER")).fixed();
        /// Threads of the offline tools. A tool uses two in any case.
        "tool_threads" tool_threads: u32 = 1
            => slapd("tool-threads", "olcToolThreads", "<count>")
                .read(|statement| statement.int().map(|count| u32::try_from(count).unwrap_or(1).max(1)));
        /// Serve `cn=Monitor`. Access rules apply to it. Without rules, everybody may read it.
        "monitor" monitor: bool = false => own();
        /// File that the server writes its process id to.
        "pid_file" pid_file: Option<PathBuf> = None
            => slapd("pidfile", "olcPidFile", "<file>").fixed().examples(&["\"/run/fulgurite/fulgurite.pid\""]);
        /// File that the server writes its command line to.
        "args_file" args_file: Option<PathBuf> = None
            => slapd("argsfile", "olcArgsFile", "<file>").fixed().examples(&["\"/run/fulgurite/fulgurite.args\""]);
        /// Features that are off unless they are named here: `bind_v2`, `bind_anon_cred`,
        /// `bind_anon_dn`, `update_anon`, `proxy_authz_anon`.
        "allow" allow: Allow = Allow::default()
            => slapd("allow", "olcAllows", "<features>").many().within(Scope::Early)
                .adding(Allow::default, add_features);
        /// Features that are on unless they are named here: `bind_anon`, `bind_simple`,
        /// `tls_2_anon`, `tls_authc`, `proxy_authz_non_critical`, `dontusecopy_non_critical`.
        "disallow" disallow: Disallow = Disallow::default()
            => slapd("disallow", "olcDisallows", "<features>").many().within(Scope::Early)
                .adding(Disallow::default, add_features);
        /// Base of searches that name none.
        "default_search_base" default_search_base: Option<String> = None
            => slapd("defaultsearchbase", "olcDefaultSearchBase", "<dn>").taking(0, Some(1)).whole().within(Scope::Early)
                .read(|statement| Ok(Some(statement.first().to_owned()).filter(|base| !base.is_empty())))
                .examples(&["\"dc=example,dc=com\""]);
        /// Attributes whose values the server keeps sorted.
        "sort_values" sort_values: Vec<String> = Vec::new()
            => slapd("sortvals", "olcSortVals", "<attr>").many().adding(Vec::new, add_words);
        /// Options of attributes other than language tags. An option that ends in a hyphen permits
        /// all options that begin with it.
        "attribute_options" attribute_options: Vec<String> = Vec::new()
            => slapd("attributeoptions", "olcAttributeOptions", "<>").taking(0, None)
                .adding(Vec::new, add_attribute_options)
                .write(|options| [&["lang-".to_owned()], options.as_slice()].concat());
        /// Look up the names of clients' hosts for access rules. The server does not do it yet.
        "reverse_lookup" reverse_lookup: bool = false => slapd("reverse-lookup", "olcReverseLookup", "<on|off>");
        /// On SIGHUP, stop gently instead of reading the settings again.
        "gentle_hup" gentle_hup: bool = false => slapd("gentlehup", "olcGentleHUP", "<on|off>").fixed();
        /// Bytes of one request of a bound client.
        "limits.request_bytes" request_bytes: u64 = 4 << 20
            => slapd("sockbuf_max_incoming_auth", "olcSockbufMaxIncomingAuth", "<max>");
        /// Bytes of one request of an anonymous client.
        "limits.request_bytes_anonymous" request_bytes_anonymous: u64 = 256 << 10
            => slapd("sockbuf_max_incoming", "olcSockbufMaxIncoming", "<max>");
        /// Connections at the same time.
        "limits.connections" connections: NonZeroU32 = at_least_one(10_000) => own().flag(Flag::value("--connections", "NUMBER"));
        /// Unanswered requests of one connection; further ones stay unread in the socket.
        "limits.pending" pending: NonZeroU32 = at_least_one(1000)
            => slapd("conn_max_pending_auth", "olcConnMaxPendingAuth", "<max>");
        /// Unanswered requests of one connection before a bind.
        "limits.pending_anonymous" pending_anonymous: NonZeroU32 = at_least_one(100)
            => slapd("conn_max_pending", "olcConnMaxPending", "<max>");
        /// Unanswered requests of all connections of one identity; further ones are answered with
        /// busy.
        "limits.pending_identity" pending_identity: NonZeroU32 = at_least_one(20_000) => own().fixed();
        /// Seconds without a request after which the server closes a connection.
        "limits.idle" idle: Option<u32> = None
            => slapd("idletimeout", "olcIdleTimeout", "<timeout>").flag(Flag::value("--idle-timeout", "SECONDS"));
        /// Seconds by which answers to binds are late at most, after failed binds of the same name
        /// or address. 0 delays none.
        "limits.bind_delay" bind_delay: u32 = 0 => own().flag(Flag::value("--bind-delay", "SECONDS"));
        /// Seconds in which a client must read part of its answers; then the server closes the
        /// connection.
        "limits.write" write: Option<u32> = Some(120) => slapd("writetimeout", "olcWriteTimeout", "<timeout>");
        /// Nesting of and, or, not in a filter.
        "limits.filter_depth" filter_depth: NonZeroU32 = at_least_one(1000)
            => slapd("maxfilterdepth", "olcMaxFilterDepth", "<depth>");
        /// Schemes of new passwords; the server uses the first that it knows. Unless set, Argon2id.
        "password.hash" password_hash: Vec<String> = Vec::new()
            => slapd("password-hash", "olcPasswordHash", "<hash>").many().adding(Vec::new, add_words);
        /// Salt of `{CRYPT}`, in the form of `printf`.
        "password.crypt_salt_format" crypt_salt_format: Option<String> = None
            => slapd("password-crypt-salt-format", "olcPasswordCryptSaltFormat", "<salt>")
                .examples(&["\"$6$%.16s\""]);
        /// SCRAM mechanisms whose keys the server stores when a password is set. With them, SCRAM
        /// works for passwords that are stored as a hash.
        "password.scram_keys" scram_keys: Vec<String> = Vec::new() => own().examples(&["[\"SCRAM-SHA-256\"]"]);
        /// Let the overlay `ppolicy` judge binds by SASL too. slapd judges none of them.
        "ppolicy.sasl" ppolicy_sasl: bool = true => own();
        /// A lock for good (`pwdAccountLockedTime: 000001010000Z`) also holds for entries that no
        /// policy is about. slapd ignores it there.
        "ppolicy.locks_need_no_policy" ppolicy_locks_need_no_policy: bool = false => own();
        /// State of `ppolicy` that replication carries when binds change it: a `lock`, `all` as in
        /// slapd, or `none`.
        "ppolicy.replicate_state" ppolicy_replicate_state: ReplicatedState = ReplicatedState::Lock => own();
        /// Entries that permit one identity to act as another: `none`, `from`, `to`, `any`, `all`.
        "authz.policy" authz_policy: AuthzPolicy = AuthzPolicy::None
            => slapd("authz-policy", "olcAuthzPolicy", "<policy>");
        /// SASL realm.
        "sasl.realm" sasl_realm: Option<String> = None
            => slapd("sasl-realm", "olcSaslRealm", "<realm>").examples(&["\"example.com\""]);
        /// Name of this host for SASL. No mechanism of this server uses it.
        "sasl.host" sasl_host: Option<String> = None
            => slapd("sasl-host", "olcSaslHost", "<host>").examples(&["\"ldap.example.com\""]);
        /// Properties that SASL mechanisms must have: `noanonymous`, `noplain`, `noactive`,
        /// `nodict`, `minssf=N` and so on. `noplain` permits PLAIN under TLS.
        "sasl.security" sasl_security: Vec<String> = vec!["noanonymous".to_owned(), "noplain".to_owned()]
            => slapd("sasl-secprops", "olcSaslSecProps", "<properties>").read(sasl_secprops)
                .write(|properties| vec![if properties.is_empty() { "none".to_owned() } else { properties.join(",") }]);
        /// Channel binding: `none`, `tls-unique` or `tls-endpoint`. The client chooses it.
        "sasl.channel_binding" sasl_channel_binding: Option<String> = None
            => slapd("sasl-cbinding", "olcSaslCBinding", "<>").write_group(|_| Vec::new())
                .examples(&["\"tls-endpoint\""]);
        /// Security strength, in bits, of connections over a UNIX socket.
        "local_ssf" local_ssf: u32 = 71
            => slapd("localSSF", "olcLocalSSF", "<ssf>").read(zero_unless_positive);
        /// The server's certificate and those above it, PEM. The server reads changed files again
        /// by itself.
        "tls.certificate" tls_certificate: Option<PathBuf> = None
            => slapd("TLSCertificateFile", "olcTLSCertificateFile", "<>").variable("TLS_CERT")
                .flag(Flag::value("--tls-certificate", "FILE"))
                .examples(&["\"/etc/fulgurite/tls/server.pem\""]);
        /// Its private key, PEM.
        "tls.key" tls_key: Option<PathBuf> = None
            => slapd("TLSCertificateKeyFile", "olcTLSCertificateKeyFile", "<>")
                .flag(Flag::value("--tls-key", "FILE"))
                .examples(&["\"/etc/fulgurite/tls/server.key\""]);
        /// Certificates that verify clients' certificates, PEM.
        "tls.ca" tls_ca: Option<PathBuf> = None
            => slapd("TLSCACertificateFile", "olcTLSCACertificateFile", "<>")
                .examples(&["\"/etc/fulgurite/tls/ca.pem\""]);
        /// A directory of such certificates.
        "tls.ca_directory" tls_ca_directory: Option<PathBuf> = None
            => slapd("TLSCACertificatePath", "olcTLSCACertificatePath", "<>")
                .examples(&["\"/etc/ssl/certs\""]);
        /// Cipher suites in the notation of OpenSSL or GnuTLS.
        "tls.ciphers" tls_ciphers: Option<String> = None
            => slapd("TLSCipherSuite", "olcTLSCipherSuite", "<>").examples(&["\"HIGH\""]);
        /// Parameters for Diffie-Hellman. Unused, because the server speaks only elliptic curves.
        "tls.dh_parameters" tls_dh_parameters: Option<PathBuf> = None
            => slapd("TLSDHParamFile", "olcTLSDHParamFile", "<>").examples(&["\"/etc/fulgurite/tls/dh.pem\""]);
        /// Elliptic curves. Unused: the server offers X25519, P-256 and P-384.
        "tls.curves" tls_curves: Option<String> = None
            => slapd("TLSECName", "olcTLSECName", "<>").examples(&["\"X25519\""]);
        /// Oldest version of TLS: `1.2` or `1.3`.
        "tls.protocol_min" tls_protocol_min: TlsVersion = TlsVersion::Tls12
            => slapd("TLSProtocolMin", "olcTLSProtocolMin", "<>").read(protocol_min)
                .write_group(|global: &Global| written_protocol_min(&global.tls_protocol_min));
        /// Demand on clients' certificates: `never`, `allow`, `try`, `demand`.
        "tls.verify_client" tls_verify_client: VerifyClient = VerifyClient::Never
            => slapd("TLSVerifyClient", "olcTLSVerifyClient", "<>");
        /// Certificates that revocation lists are searched for: `none`, `peer`, `all`.
        "tls.crl_check" tls_crl_check: CrlCheck = CrlCheck::None
            => slapd("TLSCRLCheck", "olcTLSCRLCheck", "<>").taking(0, Some(1)).take(|layer: &mut GlobalLayer, s, notes| {
                    layer.tls_crl_check = Some(crl_check(s, notes));
                    Ok(())
                })
                .write_group(|global: &Global| written_crl_check(*global.tls_crl_check, global.tls_certificate.is_some()));
        /// A list of revoked certificates, PEM.
        "tls.crl" tls_crl: Option<PathBuf> = None
            => slapd("TLSCRLFile", "olcTLSCRLFile", "<>").examples(&["\"/etc/fulgurite/tls/crl.pem\""]);
        /// Least important messages that are logged: `error`, `warn`, `info`, `debug`, `trace`.
        "log.level" log_level: LogLevel = LogLevel::Info => own().flag(Flag::value("--log-level", "LEVEL"));
        /// Log a line for every operation. It never has a password.
        "log.operations" log_operations: bool = false => own().flag(Flag::switch("--log-operations", true));
        /// File that the log goes to instead of standard error.
        "log.file" log_file: Option<PathBuf> = None
            => slapd("logfile", "olcLogFile", "<file>").examples(&["\"/var/log/fulgurite.log\""]);
        /// Form of the lines of the log: `text`, or `json` with one object a line. The system's log
        /// has text.
        "log.format" log_format: LogFormat = LogFormat::Text => own().flag(Flag::value("--log-format", "FORMAT"));
        /// Form of the files of the overlay `auditlog`: `ldif`, or `json` with one object a line.
        "log.audit" audit_format: AuditFormat = AuditFormat::Ldif => own();
        /// Write the records of the overlay `auditlog` to the disk before the answer.
        "log.audit_durable" audit_durable: bool = false => own();
        /// slapd's mask of log levels, for `cn=Monitor` and `cn=config`.
        "log.slapd_levels" log_mask: u32 = 0
            => slapd("loglevel", "olcLogLevel", "<level>").many().joined().take(|layer: &mut GlobalLayer, s, _| {
                let mask = log_levels(s, layer.log_mask.as_ref().map_or(0, |mask| mask.value))?;
                layer.set_log_mask(mask, &s.origin);
                Ok(())
            }).write(|mask| level_names(*mask));
        /// Address for monitoring over HTTP: `/metrics` for Prometheus, and the probes `/healthz`
        /// and `/readyz`. Unless set, there are none.
        "metrics.listen" metrics_listen: Option<SocketAddress> = None
            => own().flag(Flag::value("--metrics-listen", "HOST:PORT")).fixed().examples(&["\"127.0.0.1:9389\""]);
        /// File with the token that `/metrics` demands (`Authorization: Bearer TOKEN`). The probes
        /// demand none. The server reads a changed file by itself.
        "metrics.token_file" metrics_token_file: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/metrics-token\""]);
        /// Protect that address with the certificate of `tls`.
        "metrics.tls" metrics_tls: bool = false => own().fixed();
        /// Address of the console in the browser. Unless set, there is none. An address that other
        /// machines reach needs `console.tls`.
        "console.listen" console_listen: Option<SocketAddress> = None
            => own().flag(Flag::value("--console-listen", "HOST:PORT")).fixed().examples(&["\"127.0.0.1:9390\""]);
        /// Protect the console with the certificate of `tls`.
        "console.tls" console_tls: bool = false => own().fixed();
        /// Names of this machine that browsers may ask the console by. Addresses, `localhost` and
        /// the host of `console.listen` need no name here.
        "console.hosts" console_hosts: Vec<String> = Vec::new()
            => own().fixed().examples(&["[\"ldap.example.com\"]"]);
        /// Name of the cluster that this server is a node of. Unless set, the server is alone.
        /// `fulgurite cluster init` and `fulgurite cluster join` write these settings.
        "cluster.name" cluster_name: Option<String> = None
            => own().fixed().examples(&["\"5c2b0c9e-6f0e-4a53-9c3f-0f1f8a5f3c11\""]);
        /// Number of this node. No two nodes have the same.
        "cluster.node" cluster_node: NonZeroU32 = at_least_one(1) => own().fixed();
        /// Suffix of the database that the nodes share, if the server has several databases.
        "cluster.suffix" cluster_suffix: Option<String> = None
            => own().fixed().examples(&["\"dc=example,dc=com\""]);
        /// URLs of all members of etcd.
        "cluster.etcd" cluster_etcd: Vec<String> = Vec::new()
            => own().fixed().examples(&["[\"https://etcd-1:2379\", \"https://etcd-2:2379\", \"https://etcd-3:2379\"]"]);
        /// Authorities of the certificates of etcd's members, PEM. `https` needs it.
        "cluster.etcd_ca" cluster_etcd_ca: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/etcd/ca.pem\""]);
        /// Certificate that this node shows to etcd, PEM.
        "cluster.etcd_certificate" cluster_etcd_certificate: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/etcd/node.pem\""]);
        /// Its private key, PEM.
        "cluster.etcd_key" cluster_etcd_key: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/etcd/node.key\""]);
        /// Name of this node as a user of etcd, if etcd has roles. The password goes over `https`
        /// only.
        "cluster.etcd_user" cluster_etcd_user: Option<String> = None
            => own().fixed().examples(&["\"fulgurite\""]);
        /// File with the password of that user.
        "cluster.etcd_password_file" cluster_etcd_password_file: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/etcd/password\""]);
        /// Address on which this node listens to the other nodes, over mutual TLS.
        "cluster.listen" cluster_listen: Option<SocketAddress> = None
            => own().fixed().examples(&["\":7390\""]);
        /// Address by which the other nodes reach this one, if it is another than `cluster.listen`.
        "cluster.address" cluster_address: Option<SocketAddress> = None
            => own().fixed().examples(&["\"node-1.example.com:7390\""]);
        /// Authorities of the certificates of all nodes, PEM.
        "cluster.ca" cluster_ca: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/cluster/ca.pem\""]);
        /// Certificate of this node, PEM. It is for the name `node-NUMBER.NAME.fulgurite`.
        "cluster.certificate" cluster_certificate: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/cluster/node.pem\""]);
        /// Its private key, PEM.
        "cluster.key" cluster_key: Option<PathBuf> = None
            => own().fixed().examples(&["\"/etc/fulgurite/cluster/node.key\""]);
        /// State that searches and compares see: `local` is that of the node, which may be a batch
        /// behind. `linearizable` asks etcd before each read. Controls ask for single reads.
        "cluster.reads" cluster_reads: ClusterReads = ClusterReads::default() => own().fixed();
        /// Time without an answer of etcd after which the node refuses reads as unavailable (52).
        /// Unless set, it goes on with what it has.
        "cluster.stale_after" cluster_stale_after: Option<Interval> = None
            => own().fixed().examples(&["\"1min\""]);
        /// Time between two checkpoints of the database. Batches are not flushed then, because the
        /// log has them. Unless set, the node flushes each batch.
        "cluster.checkpoint_every" cluster_checkpoint_every: Option<Interval> = None
            => own().fixed().examples(&["\"30s\""]);
        /// Directory of the backups that the server makes by itself. Unless set, it makes none.
        "backup.to" backup_to: Option<PathBuf> = None => own().examples(&["\"/var/backups/fulgurite\""]);
        /// Time from one backup to the next.
        "backup.every" backup_every: Interval = Interval(86_400) => own();
        /// Number of backups to keep. After each new one the server removes the oldest.
        "backup.keep" backup_keep: NonZeroU32 = at_least_one(7) => own();
        /// A directory of schema files. The server reads its `.schema` and `.ldif` files in the
        /// order of their names, after the files of `schema`.
        "start.schema_directory" schema_directory: Option<PathBuf> = None
            => own().variable("SCHEMA_DIR").examples(&["\"/etc/fulgurite/schema\""]);
        /// A directory of LDIF files. At each start the server adds those of their entries that are
        /// missing. It makes the changes of each file once.
        "start.ldif_directory" ldif_directory: Option<PathBuf> = None
            => own().variable("SEED_LDIF_DIR").examples(&["\"/etc/fulgurite/ldif\""]);
        /// At start, make the entry at the top of the data if there is none.
        "start.create_suffix" create_suffix: bool = false => own().variable("CREATE_SUFFIX");
        /// The `o` of that entry.
        "start.organization" organization: Option<String> = None
            => own().variable("ORGANIZATION").examples(&["\"Example Company\""]);
        /// Index keys are hashes of 64 bits.
        "index_keys.hash64" index_hash64: bool = true => slapd("index_hash64", "olcIndexHash64", "<on|off>");
        /// Bytes of an integer's index key.
        "index_keys.int_len" index_int_len: u32 = 4 => slapd("index_intlen", "olcIndexIntLen", "<len>");
        /// Least length of initial and final parts in the substring index.
        "index_keys.substr_if_min_len" substr_if_min_len: u32 = 2
            => slapd("index_substr_if_minlen", "olcIndexSubstrIfMinLen", "<min>")
                .read_in(|layer: &GlobalLayer, s| substr_if_min_len(s, layer.substr_if_max_len.as_ref().map(|one| one.value)));
        /// Greatest length of initial and final parts in the substring index.
        "index_keys.substr_if_max_len" substr_if_max_len: u32 = 4
            => slapd("index_substr_if_maxlen", "olcIndexSubstrIfMaxLen", "<max>")
                .read_in(|layer: &GlobalLayer, s| substr_if_max_len(s, layer.substr_if_min_len.as_ref().map(|one| one.value)));
        /// Length of inner parts in the substring index.
        "index_keys.substr_any_len" substr_any_len: u32 = 4
            => slapd("index_substr_any_len", "olcIndexSubstrAnyLen", "<len>");
        /// Steps between inner parts in the substring index.
        "index_keys.substr_any_step" substr_any_step: u32 = 2
            => slapd("index_substr_any_step", "olcIndexSubstrAnyStep", "<step>");
    } {
        /// Addresses to listen on: `ldap://HOST:PORT`, `ldap://[::1]:PORT`, or `ldap://:PORT` for
        /// all addresses. Unless set, `ldap://127.0.0.1:389`. `ldaps://` needs `tls`. `ldapi:///`
        /// is a UNIX socket; `ldapi://%2Frun%2Fldapi` is one at another path. `pldap://` and
        /// `pldaps://` are for load balancers that speak the PROXY protocol (version 2).
        "listen" listen: ListenUrl => own().flag(Flag::repeated("--listen", "URL")).fixed().installed(&["[\"ldap://127.0.0.1:389\"]"]);
        /// Bytes of the buffers of TCP connections: `65536`, `read=64K`, `write=64K` or
        /// `listener=ldap://:389 65536`. A listener's own value wins, then the later one. Unless
        /// set, the system chooses.
        "limits.tcp_buffer" tcp_buffers: TcpBuffer
            => slapd("tcp-buffer", "olcTCPBuffer", "<[listener=<listener>] [{read|write}=]size>").many()
                .flag(Flag::repeated("--tcp-buffer", "BYTES")).fixed()
                .examples(&["[\"listener=ldaps://:636 write=4M\", \"read=64K\"]"]);
        /// Schema files (`.schema`, cn=schema LDIF, RFC 4512 LDIF), read in order after the
        /// built-in schema. The files that OpenLDAP ships are built in: `dyngroup.schema` works
        /// without such a file. An item may also be a definition: `attributetype ( 1.2 NAME 'x' )`.
        "schema" schema: SchemaPart => own().flag(Flag::repeated("--schema", "FILE").of(FlagGroup::Schema));
        /// This server's number in change sequence numbers, from 0 to 4095. Where several servers
        /// share a file, a listener's URL follows it.
        "server_id" server_ids: ServerId
            => slapd("serverID", "olcServerID", "<number> <[URI]>").taking(1, Some(2))
                .read_in(|layer: &GlobalLayer, s| server_id(s, layer.server_ids.is_empty()))
                .examples(&["[\"1 ldap://a.example.com\", \"2 ldap://b.example.com\"]"]);
        /// URLs that the server refers clients to for names that no database holds.
        "referral" referrals: String
            => slapd("referral", "olcReferral", "<url>").take(|layer: &mut GlobalLayer, s, _| {
                layer.referrals.extend(referral(s)?);
                Ok(())
            }).examples(&["[\"ldap://root.example.com\"]"]);
        /// LDIF files of an entry without a name. Its attributes become attributes of the root DSE.
        "root_dse" root_dse: PathBuf
            => slapd("rootDSE", "olcRootDSE", "<file>").examples(&["[\"/etc/fulgurite/rootdse.ldif\"]"]);
        /// Rules that map an identity of SASL to an entry: an expression, and the name or URL that
        /// replaces it.
        "authz.regexp" authz_regexp: AuthzRegexp
            => slapd("authz-regexp", "olcAuthzRegexp", "<regexp> <DN>").taking(2, Some(2)).numbered()
                .read(authz_regexp).write(written_regexp)
                .examples(&["[[\"uid=([^,]*),cn=[^,]*,cn=auth\", \"uid=$1,ou=people,dc=example,dc=com\"]]"]);
    }
}

impl GlobalLayer {
    /// Sets slapd's mask of log levels, and the settings that follow from it.
    pub(crate) fn set_log_mask(&mut self, mask: u32, origin: &crate::Origin) {
        let operations = mask & levels::STATS != 0;
        self.log_level = Some(Sourced::new(levels::log_level(mask), origin.clone()));
        self.log_operations = Some(Sourced::new(operations, origin.clone()));
        self.log_mask = Some(Sourced::new(mask, origin.clone()));
    }
}
