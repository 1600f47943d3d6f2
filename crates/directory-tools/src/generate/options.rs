//! The size and the seed of an invented directory.

/// The size and the seed of an invented directory.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Users.
    pub users: u64,
    /// Everything follows from it.
    pub seed: u64,
    /// Name of the entry at the top, beginning with `dc`, `o` or `ou`.
    pub suffix: String,
    /// Groups of names; `None` for one per hundred users, at least one.
    pub groups: Option<u64>,
    /// Members of each group, at most.
    pub group_members: u32,
    /// True if passwords are hashed as `{SSHA}`; user n's is `pw.n` either way.
    pub hash: bool,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            users: 1_000,
            seed: 1,
            suffix: "dc=example,dc=com".to_owned(),
            groups: None,
            group_members: 50,
            hash: false,
        }
    }
}
