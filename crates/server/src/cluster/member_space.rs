//! The room of a member of etcd, for the figures.

/// The room of a member of etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemberSpace {
    /// Its URL.
    pub(crate) member: String,
    /// The size of its database in bytes.
    pub(crate) bytes: u64,
    /// The bound of that size, if the member tells it.
    pub(crate) quota: Option<u64>,
}
