//! Controls (RFC 4511 section 4.1.11), and the values of those that have one.
//!
//! ```text
//!   envelope.rs   Control, Controls: as a message carries them
//!   kind.rs       the constants of a control: OID, name, codec of its value
//!   the others    one file for each value, with its constants
//! ```
//! The one table of controls is that of the directory. Its rows refer to these constants.

mod account_usability;
mod assertion;
mod cluster_position;
mod dereference;
mod envelope;
mod kind;
mod matched_values;
mod paged;
mod password_policy;
mod read_entry;
mod search_options;
mod session_tracking;
mod sort;
mod subentries;
mod sync_cookie;
mod sync_done;
mod sync_info;
mod sync_request;
mod sync_state;
mod value_order;
mod vlv;

pub use account_usability::AccountUsability;
pub use assertion::Assert;
pub use cluster_position::ClusterPosition;
pub use dereference::{Dereference, DereferenceSpec, DereferencedValue, dereferenced};
pub(crate) use envelope::encode;
pub use envelope::{Control, Controls};
pub use kind::{CheckValue, ControlKind};
pub use matched_values::MatchedValues;
pub use paged::PagedResults;
pub use password_policy::{PasswordError, PasswordPolicyResponse, PasswordWarning};
pub use read_entry::{ReadEntry, read_entry_value};
pub use search_options::SearchOptions;
pub use session_tracking::SessionTracking;
pub use sort::{SortKey, SortRequest, SortResponse};
pub use subentries::Subentries;
pub use sync_cookie::SyncCookie;
pub use sync_done::SyncDone;
pub use sync_info::{PhaseEnd, SyncIdSet, SyncInfo};
pub use sync_request::{SyncMode, SyncRequest};
pub use sync_state::{EntryState, EntryUuid, SyncState};
pub use value_order::ValueOrderRequest;
pub use vlv::{VlvRequest, VlvResponse, VlvTarget};
