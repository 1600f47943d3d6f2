//! The providers that a database is copied from.

use crate::choice::choice;
use crate::provider_link::ProviderLink;

/// One provider of a database (`syncrepl`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syncrepl {
    /// The number of this consumer, 0 to 999, which cookies name.
    pub rid: u16,
    /// The name at the top of what is copied, at the provider.
    pub search_base: String,
    /// The name that takes the place of the search base here.
    pub suffix_massage: Option<String>,
    /// The filter of the entries to copy.
    pub filter: String,
    /// How far below the search base the copy reaches.
    pub scope: SyncScope,
    /// The attributes to copy; empty for all of them.
    pub attributes: Vec<String>,
    /// The attributes that are left as they are.
    pub excluded: Vec<String>,
    /// Copy names of attributes without values.
    pub attributes_only: bool,
    /// The entries of a search at most; 0 for no limit.
    pub size_limit: u32,
    /// The seconds of a search at most; 0 for no limit.
    pub time_limit_s: u32,
    /// Stay connected after the refresh.
    pub persist: bool,
    /// Seconds from the end of a refresh to the next, without `persist`.
    pub interval_s: u64,
    /// Pauses after failures; `None` for one hour for ever.
    pub retry: Option<RetryList>,
    /// Check entries against the schema.
    pub schema_checking: bool,
    /// Copy referral objects as entries.
    pub manage_dsa_it: bool,
    /// Accepted and written back; this server never drops its clients for a refresh.
    pub strict_refresh: bool,
    /// Write what a refresh brings without waiting for the disk.
    pub lazy_commit: bool,
    /// The connection to the provider.
    pub link: ProviderLink,
    /// The form in which changes come.
    pub data: SyncData,
    /// The database of the access log.
    pub log_base: Option<String>,
    /// The filter of log entries.
    pub log_filter: Option<String>,
}

/// The pauses between attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryList {
    /// Seconds of a pause, and how often it is made; `None` for ever, which only the last may be.
    pub steps: Vec<(u64, Option<u32>)>,
}

choice! {
    /// How far below the search base a copy reaches.
    SyncScope {
        /// The base and everything below it.
        #[default]
        Subtree = "sub" | "subtree",
        /// The base alone.
        Base = "base",
        /// The children of the base.
        One = "one" | "onelevel",
        /// Everything below the base, without it.
        Subordinate = "subordinate" | "subord" | "children",
    }
}

choice! {
    /// The form in which changes come.
    SyncData {
        /// As entries.
        #[default]
        Entries = "default",
        /// As operations, from the provider's access log.
        AccessLog = "accesslog",
    }
}

impl Syncrepl {
    /// Returns the attributes to ask for: those of the settings, and as in slapd those that each
    /// copy needs.
    #[must_use]
    pub fn copied_attributes(&self) -> Vec<String> {
        const CLASS: &str = "structuralObjectClass";
        if self.attributes.is_empty() {
            return ["*", "+"].map(str::to_owned).to_vec();
        }
        let is = |name: &String, other: &str| name.eq_ignore_ascii_case(other);
        let mut names = self.attributes.clone();
        let has_operational = names.iter().any(|name| name == "+");
        if !has_operational {
            names.retain(|name| !is(name, CLASS));
        }
        let mut add = |name: &str| {
            if !names.iter().any(|held| held == "*" || is(held, name)) {
                names.push(name.to_owned());
            }
        };
        add("objectClass");
        if !has_operational {
            names.push(CLASS.to_owned());
            if !names.iter().any(|name| is(name, "entryCSN")) {
                names.push("entryCSN".to_owned());
            }
        }
        names
    }

    /// Returns a consumer with every value at its default.
    #[must_use]
    pub fn new(rid: u16, provider: &str, search_base: &str) -> Syncrepl {
        Syncrepl {
            rid,
            search_base: search_base.to_owned(),
            suffix_massage: None,
            filter: "(objectclass=*)".to_owned(),
            scope: SyncScope::default(),
            attributes: Vec::new(),
            excluded: Vec::new(),
            attributes_only: false,
            size_limit: 0,
            time_limit_s: 0,
            persist: false,
            interval_s: 24 * 60 * 60,
            retry: None,
            schema_checking: false,
            manage_dsa_it: true,
            strict_refresh: false,
            lazy_commit: false,
            link: ProviderLink::new(provider),
            data: SyncData::default(),
            log_base: None,
            log_filter: None,
        }
    }

    /// Returns the name at the top of the copy, in this server.
    #[must_use]
    pub fn local_base(&self) -> &str {
        self.suffix_massage.as_ref().unwrap_or(&self.search_base)
    }
}
