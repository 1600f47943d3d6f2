//! Optional features of databases: what slapd calls overlays.
//!
//! [`set::Features`] is compiled once for each configuration, from the overlays of its databases.
//! [`registry`] has one row for each overlay that the server implements. A feature is a fixed
//! field. A search without it pays at most one test of an `Option` or a flag.
//!
//! A feature acts at one or more of these points:
//!
//! | point | place | features |
//! | --- | --- | --- |
//! | names | `search::begin`, `op::update`, `op::compare`: before `result::dn` parses a name | none (rwm) |
//! | guard | `Context::begin_change`: all checks are done, nothing has changed yet | none (unique, constraint) |
//! | follow | `Context::end_change`: the change is in the transaction | none (refint, memberof) |
//! | present | `rights::computed::Computed`: the one table of computed attributes | none (memberof, collect) |
//! | plan | `search::begin`: the parts and the order of a search | [`glue`], [`sssvlv`] |
//! | bind | `auth::claim`: before and after a proof is verified | none (ppolicy, otp) |
//! | session | `OperationPolicy::permit`: before any other request of a connection | none (ppolicy) |
//! | record | `op::batch`: after the commit, in the order of the updates | none (accesslog, auditlog) |
//!
//! A point gets code with its first feature. Guards will be an enum, called in reverse order of the
//! configuration.

pub(crate) mod glue;
pub(crate) mod registry;
pub(crate) mod set;
pub(crate) mod sssvlv;
