//! Offline tools of the directory: LDIF in, LDIF out, LDIF from nothing, entries checked and
//! changed.
//!
//! ```text
//!   files --> ldif::Parts --> Reader --> schema --> EntryCompleter --> bulk load   load
//!   the same once more, after a load has failed                                    load_faults
//!   input --> ldif::Reader --> schema --> Importer --> store: writer               add
//!   input --> ldif::Reader --> directory: updates of its root                      modify
//!   store: export --> ldif::Writer --> output                                      export
//!   store: by ids --> filter, scope --> ldif::Writer --> output                    cat
//!   store: by ids --> filter, scope --> schema                                     schema_check
//!   openldap-mdb: a foreign database --> schema --> store: writer                  openldap_import
//!   openldap-mdb beside store: entry by entry                                      import_check
//!   filter --> store: plan, counts                                                 explain
//!   seed --> invented people --> ldif::Writer --> output                           generate
//! ```
//!
//! They work on stores and streams; options, terminals and exit codes are the command line's. A
//! load may extend a store that a server has open. It takes the store's writer like any other
//! update, and commits once. [`generate`](fn@generate) writes the same directory on every machine
//! for the same seed.

#![forbid(unsafe_code)]

mod add;
mod cat;
mod context;
mod explain;
mod export;
mod generate;
mod import_check;
mod import_error;
mod load;
mod load_faults;
mod missing_classes;
mod missing_types;
mod modify;
mod openldap_import;
mod progress;
mod replay;
mod schema_check;

pub use add::{AddError, AddEvent, AddOptions, AddSummary, Refusal, add};
pub use cat::{CatOptions, CatScope, cat};
pub use explain::{ExplainError, ExplainOptions, ExplainedTerm, Explanation, explain};
pub use export::{ExportError, export};
pub use generate::{GenerateError, GenerateOptions, generate};
pub use import_check::{GroupRule, ImportCheck};
pub use import_error::ImportError;
pub use load::{LoadFailure, LoadSettings, LoadSummary, load, note_of_left_out};
pub use load_faults::{LoadFaults, load_faults};
pub use missing_classes::{MissingClass, missing_classes};
pub use missing_types::{MissingType, builtin_with, missing_types};
pub use modify::{ChangeKind, ModifyEvent, ModifyOptions, modify, modify_by};
pub use openldap_import::{
    ImportEvent, ImportOptions, ImportSummary, import_and_check, import_openldap, suffixes_of,
};
pub use progress::{LoadBar, Phase, Progress};
pub use replay::{ReplayError, ReplayReport, replay};
pub use schema_check::{CheckResult, schema_check};
