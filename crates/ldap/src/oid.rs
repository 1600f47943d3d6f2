//! Object identifiers of controls, extended operations and features, as they travel: dotted text.
//!
//! A control needs no constant here if only one place names its OID. Its `KIND` or its row of the
//! directory's table then has it.

/// Notice of disconnection, unsolicited (RFC 4511 section 4.4.1).
pub const NOTICE_OF_DISCONNECTION: &str = "1.3.6.1.4.1.1466.20036";
/// StartTLS extended operation (RFC 4511 section 4.14).
pub const START_TLS: &str = "1.3.6.1.4.1.1466.20037";
/// Password modify extended operation (RFC 3062).
pub const PASSWORD_MODIFY: &str = "1.3.6.1.4.1.4203.1.11.1";
/// Who am I? extended operation (RFC 4532).
pub const WHO_AM_I: &str = "1.3.6.1.4.1.4203.1.11.3";
/// Cancel extended operation (RFC 3909).
pub const CANCEL: &str = "1.3.6.1.1.8";

/// Extended operation of this server that explains access rules. The root DSE does not list it.
pub const EXPLAIN_ACCESS: &str = "2.25.167607689860190508040211256607342492935";

/// Control of this server: a read sees everything that a cluster has acknowledged before it.
pub const LINEARIZABLE_READ: &str = "2.25.302819891496272786015889299600346220401";
/// Control of this server, of requests and responses: a position in the log of a cluster.
pub const CLUSTER_POSITION: &str = "2.25.283040174811532244061583320820225822519";

/// Start transaction extended operation (RFC 5805).
pub const START_TRANSACTION: &str = "1.3.6.1.1.21.1";
/// End transaction extended operation (RFC 5805).
pub const END_TRANSACTION: &str = "1.3.6.1.1.21.3";
/// Aborted transaction notice, unsolicited (RFC 5805).
pub const ABORTED_TRANSACTION: &str = "1.3.6.1.1.21.4";

/// ManageDsaIT control (RFC 3296).
pub const MANAGE_DSA_IT: &str = "2.16.840.1.113730.3.4.2";
/// Simple paged results control (RFC 2696).
pub const PAGED_RESULTS: &str = "1.2.840.113556.1.4.319";
/// Assertion control (RFC 4528).
pub const ASSERTION: &str = "1.3.6.1.1.12";
/// Pre-read control (RFC 4527).
pub const PRE_READ: &str = "1.3.6.1.1.13.1";
/// Post-read control (RFC 4527).
pub const POST_READ: &str = "1.3.6.1.1.13.2";
/// Proxied authorization control (RFC 4370).
pub const PROXIED_AUTHORIZATION: &str = "2.16.840.1.113730.3.4.18";
/// Matched values control (RFC 3876).
pub const MATCHED_VALUES: &str = "1.2.826.0.1.3344810.2.3";
/// Server-side sorting request control (RFC 2891).
pub const SORT_REQUEST: &str = "1.2.840.113556.1.4.473";
/// Server-side sorting response control (RFC 2891).
pub const SORT_RESPONSE: &str = "1.2.840.113556.1.4.474";
/// Virtual list view request control (draft-ietf-ldapext-ldapv3-vlv).
pub const VLV_REQUEST: &str = "2.16.840.1.113730.3.4.9";
/// Virtual list view response control (draft-ietf-ldapext-ldapv3-vlv).
pub const VLV_RESPONSE: &str = "2.16.840.1.113730.3.4.10";
/// Domain scope control: no referral and no search reference.
pub const DOMAIN_SCOPE: &str = "1.2.840.113556.1.4.1339";
/// Subentries control (RFC 3672).
pub const SUBENTRIES: &str = "1.3.6.1.4.1.4203.1.10.1";
/// Content synchronisation request control (RFC 4533).
pub const SYNC_REQUEST: &str = "1.3.6.1.4.1.4203.1.9.1.1";
/// Content synchronisation state control (RFC 4533).
pub const SYNC_STATE: &str = "1.3.6.1.4.1.4203.1.9.1.2";
/// Content synchronisation done control (RFC 4533).
pub const SYNC_DONE: &str = "1.3.6.1.4.1.4203.1.9.1.3";
/// Content synchronisation information, an intermediate response (RFC 4533).
pub const SYNC_INFO: &str = "1.3.6.1.4.1.4203.1.9.1.4";

/// Don't use copy control (RFC 6171).
pub const DONT_USE_COPY: &str = "1.3.6.1.1.22";
/// Permissive modify control, of Active Directory.
pub const PERMISSIVE_MODIFY: &str = "1.2.840.113556.1.4.1413";
/// Tree delete control (draft-armijo-ldap-treedelete).
pub const TREE_DELETE: &str = "1.2.840.113556.1.4.805";
/// Relax rules control (draft-zeilenga-ldap-relax).
pub const RELAX: &str = "1.3.6.1.4.1.4203.666.5.12";
/// Dereference control (draft-masarati-ldap-deref).
pub const DEREFERENCE: &str = "1.3.6.1.4.1.4203.666.5.16";
/// Control of OpenLDAP's overlay valsort: values in their stored order.
pub const VALUE_ORDER: &str = "1.3.6.1.4.1.4203.666.5.14";
/// Account usability control, of Sun.
pub const ACCOUNT_USABILITY: &str = "1.3.6.1.4.1.42.2.27.9.5.8";
/// Password policy control (draft-behera-ldap-password-policy).
pub const PASSWORD_POLICY: &str = "1.3.6.1.4.1.42.2.27.8.5.1";
/// Netscape's control of a response: the password has expired.
pub const NETSCAPE_PASSWORD_EXPIRED: &str = "2.16.840.1.113730.3.4.4";
/// Netscape's control of a response. Its value has the seconds until a password expires.
pub const NETSCAPE_PASSWORD_EXPIRING: &str = "2.16.840.1.113730.3.4.5";
/// No-op control (draft-zeilenga-ldap-noop).
pub const NO_OP: &str = "1.3.6.1.4.1.4203.666.5.2";
/// Session tracking control (draft-wahl-ldap-session).
pub const SESSION_TRACKING: &str = "1.3.6.1.4.1.21008.108.63.1";
/// Transaction specification control (RFC 5805).
pub const TRANSACTION: &str = "1.3.6.1.1.21.2";

/// Feature: all operational attributes by `+` (RFC 3673).
pub const FEATURE_ALL_OPERATIONAL: &str = "1.3.6.1.4.1.4203.1.5.1";
/// Feature: attributes of an object class by `@class` (RFC 4529).
pub const FEATURE_OBJECT_CLASS_ATTRIBUTES: &str = "1.3.6.1.4.1.4203.1.5.2";
/// Feature: absolute true and false filters (RFC 4526).
pub const FEATURE_TRUE_FALSE_FILTERS: &str = "1.3.6.1.4.1.4203.1.5.3";
/// Feature: language tags (RFC 3866).
pub const FEATURE_LANGUAGE_TAGS: &str = "1.3.6.1.4.1.4203.1.5.4";
/// Feature: language ranges (RFC 3866).
pub const FEATURE_LANGUAGE_RANGES: &str = "1.3.6.1.4.1.4203.1.5.5";
/// Feature: modify-increment (RFC 4525).
pub const FEATURE_MODIFY_INCREMENT: &str = "1.3.6.1.1.14";
