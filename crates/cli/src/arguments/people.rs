//! Flags of `fulgurite user`, `fulgurite group` and `fulgurite ou`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::server::{BaseFlag, FormatFlags, ServerFlags};

/// Look after users of a running server
///
/// Users are entries of the class inetOrgPerson. A user is named by uid or by DN. Exit status: 0
/// done or was so already, 1 refused, 2 wrong command line, 3 no such user.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  fulgurite user add ada --first Ada --last Lovelace --mail ada@example.com --generate\n  fulgurite user passwd ada\n  fulgurite user list --json"
)]
pub(crate) struct User {
    #[command(subcommand)]
    pub(crate) action: UserAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserAction {
    Add(Box<UserAdd>),
    Show(Show),
    List(List),
    Passwd(UserPasswd),
    /// Lock a user out until `unlock`, by the password policy of the server
    Lock(Named),
    /// Let a locked user in again
    Unlock(Named),
    Delete(UserDelete),
}

/// Make a user
#[derive(Debug, Args)]
pub(crate) struct UserAdd {
    /// Login name (uid)
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Full name (cn) [default: of --first and --last, otherwise NAME]
    #[arg(long, value_name = "TEXT")]
    pub(crate) cn: Option<String>,
    /// First name (givenName)
    #[arg(long, value_name = "TEXT")]
    pub(crate) first: Option<String>,
    /// Last name (sn) [default: the last word of the full name]
    #[arg(long, value_name = "TEXT")]
    pub(crate) last: Option<String>,
    /// Mail address. Repeatable
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) mail: Vec<String>,
    /// Another value. Repeatable
    #[arg(long = "set", value_name = "ATTRIBUTE=VALUE")]
    pub(crate) values: Vec<String>,
    /// Unit below the suffix, made if it is missing
    #[arg(long, value_name = "NAME", default_value = "people")]
    pub(crate) ou: String,
    /// DN of the entry above, instead of --ou
    #[arg(long, value_name = "DN", conflicts_with = "ou")]
    pub(crate) under: Option<String>,
    /// Give the user an account (posixAccount)
    #[arg(long)]
    pub(crate) posix: bool,
    /// Number of the account [default: the next free one, from 10000]
    #[arg(long, value_name = "NUMBER", requires = "posix")]
    pub(crate) uid_number: Option<u32>,
    /// Number of the account's group [default: the number of the account]
    #[arg(long, value_name = "NUMBER", requires = "posix")]
    pub(crate) gid_number: Option<u32>,
    /// Home directory [default: /home/NAME]
    #[arg(long, value_name = "PATH", requires = "posix")]
    pub(crate) home: Option<String>,
    /// Login shell
    #[arg(
        long,
        value_name = "PATH",
        requires = "posix",
        default_value = "/bin/bash"
    )]
    pub(crate) shell: String,
    #[command(flatten)]
    pub(crate) password: NewPassword,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// A new password. `user passwd` asks for it if no flag is given.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub(crate) struct NewPassword {
    /// Ask for the new password, twice
    #[arg(short = 'S', long)]
    pub(crate) ask: bool,
    /// File with the new password
    #[arg(long, value_name = "FILE")]
    pub(crate) new_password_file: Option<PathBuf>,
    /// Make a password up, and print it once on standard output
    #[arg(long)]
    pub(crate) generate: bool,
}

/// Show an entry
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Short name or DN
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) format: FormatFlags,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// List entries
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Entries with this text in a name or mail address alone
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatFlags,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// Set the password of a user
///
/// The server hashes it, and its password policy judges it (RFC 3062).
#[derive(Debug, Args)]
pub(crate) struct UserPasswd {
    /// Login name or DN
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) password: NewPassword,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// A user, a group or a unit.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Short name or DN
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// Delete a user, also from groups
#[derive(Debug, Args)]
pub(crate) struct UserDelete {
    /// Leave the name in groups
    #[arg(long)]
    pub(crate) keep_memberships: bool,
    #[command(flatten)]
    pub(crate) named: Named,
}

/// Look after groups of a running server
///
/// A group is named by cn or by DN. Exit status: 0 done or was so already, 1 refused, 2 wrong
/// command line, 3 no such group or user.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  fulgurite group add staff --member ada --member bob\n  fulgurite group members staff --add chloe --remove bob\n  fulgurite group list"
)]
pub(crate) struct Group {
    #[command(subcommand)]
    pub(crate) action: GroupAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GroupAction {
    Add(Box<GroupAdd>),
    Show(Show),
    List(List),
    Members(Members),
    /// Delete a group
    Delete(Named),
}

/// Make a group: groupOfNames unless a flag says otherwise
#[derive(Debug, Args)]
pub(crate) struct GroupAdd {
    /// Name of the group (cn)
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// User, or DN, that is a member. Repeatable
    #[arg(short, long = "member", value_name = "USER")]
    pub(crate) members: Vec<String>,
    /// Make a groupOfUniqueNames
    #[arg(long, conflicts_with = "posix")]
    pub(crate) unique: bool,
    /// Make a posixGroup
    #[arg(long)]
    pub(crate) posix: bool,
    /// Number of the group [default: the next free one, from 10000]
    #[arg(long, value_name = "NUMBER", requires = "posix")]
    pub(crate) gid_number: Option<u32>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Unit below the suffix, made if it is missing
    #[arg(long, value_name = "NAME", default_value = "groups")]
    pub(crate) ou: String,
    /// DN of the entry above, instead of --ou
    #[arg(long, value_name = "DN", conflicts_with = "ou")]
    pub(crate) under: Option<String>,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// List the members of a group, or change them
#[derive(Debug, Args)]
pub(crate) struct Members {
    /// Name or DN of the group
    #[arg(value_name = "GROUP")]
    pub(crate) group: String,
    /// User, or DN, to add. Repeatable
    #[arg(short, long = "add", value_name = "USER")]
    pub(crate) additions: Vec<String>,
    /// User, or DN, to remove. Repeatable
    #[arg(short, long = "remove", value_name = "USER")]
    pub(crate) removals: Vec<String>,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// Look after organizational units of a running server
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Ou {
    #[command(subcommand)]
    pub(crate) action: OuAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OuAction {
    Add(OuAdd),
    List(List),
    /// Delete a unit that is empty
    Delete(Named),
}

/// Make a unit
#[derive(Debug, Args)]
pub(crate) struct OuAdd {
    /// Name of the unit (ou)
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// DN of the entry above [default: the suffix]
    #[arg(long, value_name = "DN")]
    pub(crate) under: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) base: BaseFlag,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}
