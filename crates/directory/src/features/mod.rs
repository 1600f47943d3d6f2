//! Optional features of databases: what slapd calls overlays.
//!
//! [`set::Features`] is compiled once for each database and each configuration. [`registry`] has
//! one row for each overlay that the server implements. Guards are a list, and every other feature
//! is a field. An update of a database without features pays one test for each point, and a search
//! none. Sorted searches are no part of it: all databases share their limits and slots.
//!
//! A feature acts at one or more of these points:
//!
//! | point | place | features |
//! | --- | --- | --- |
//! | names | `search::begin`, `op::update`, `op::compare`: before `result::dn` parses a name | none (rwm) |
//! | guard: [`guard_question`], [`guards`] | `write::ask_guards`, `write::password_policy`: rights are checked, the entry after the update is known | [`unique`], [`constraint`], [`password_policy`], [`memberof`], [`valsort`] |
//! | follow: [`name_change`] | `write::follow`: the change of a name is in the transaction | [`refint`], [`memberof`] |
//! | present | `rights::computed::Computed`: the one table of computed attributes; `rights::expansion`: values added to an entry; `rights::projection`: their order | [`memberof`], [`dynlist`], [`valsort`] |
//! | plan | `search::begin`: the parts and the order of a search; `search::member_items`, `search::list_items` | [`glue`], [`sssvlv`], [`memberof`], [`dynlist`] |
//! | bind: [`last_bind`] | `op::bind_policy`: around the check of a password; `op::bind_record`: a bind has succeeded | [`password_policy`], [`last_bind`] |
//! | session | `OperationPolicy::permit_reading`, `op::update`: before any other request of a connection | [`password_policy`] |
//! | record: [`auditlog`] | `write::audit`: the change is in the transaction; `op::batch` hands the records out after the commit | [`auditlog`] |
//! | log: [`accesslog`] | `generated::access_log`: the store's log of changes as entries; [`log_gate`]: before each operation | [`accesslog`] |
//!
//! A point gets code with its first feature. Guards are asked in reverse order of the
//! configuration, as in slapd.

pub(crate) mod accesslog;
mod audit_json;
pub(crate) mod audit_record;
pub(crate) mod auditlog;
pub(crate) mod compilation;
mod constraint;
mod dynlist;
pub(crate) mod glue;
pub(crate) mod guard_question;
pub(crate) mod guards;
pub(crate) mod last_bind;
pub(crate) mod log_gate;
pub(crate) mod memberof;
pub(crate) mod name_change;
pub(crate) mod password_policy;
pub(crate) mod refint;
mod region;
pub(crate) mod registry;
pub(crate) mod set;
pub(crate) mod sssvlv;
pub(crate) mod syncprov;
mod truth;
mod unique;
pub(crate) mod valsort;
