//! The directory: stores, schema, rules and settings under one roof.

use std::sync::{Arc, Mutex, OnceLock};

use fulgurite_access::{RuleError, Rules};
use fulgurite_schema::{Dn, DnError, Schema};
use fulgurite_store::Store;
use thiserror::Error;

use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::csn::CsnGenerator;
use crate::known::Known;
use crate::limits::Limits;
use crate::session::Name;
use crate::special::Special;

/// What a directory is made of.
pub struct DirectoryOptions {
    /// The stores; their suffixes are the naming contexts. At least one, all opened with `schema`.
    pub stores: Vec<Store>,
    /// The schema.
    pub schema: Arc<Schema>,
    /// Who passes every rule and limit.
    pub root: Option<RootAccount>,
    /// Access rules in the language of [`Rules::parse`]; none means [`Rules::standard`].
    pub access: Vec<String>,
    /// Limits of searches.
    pub limits: Limits,
    /// Number of this server in CSNs, `0..=0xfff`.
    pub server_id: u16,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// The root of the directory.
#[derive(Clone, Debug)]
pub struct RootAccount {
    /// Its name. The entry need not exist.
    pub dn: String,
    /// Its password, in clear or as `{SCHEME}...`. Without one, the password of its entry counts.
    pub password: Option<Vec<u8>>,
}

/// Why a directory cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// No store was given.
    #[error("a directory needs at least one store")]
    NoStore,
    /// Two stores have a suffix in common, or one below another.
    #[error("the suffixes {0:?} and {1:?} overlap")]
    OverlappingSuffixes(String, String),
    /// The root's name is no name.
    #[error("root DN {dn:?}: {source}")]
    RootDn {
        /// As configured.
        dn: String,
        /// What is wrong with it.
        source: DnError,
    },
    /// An access rule is wrong.
    #[error(transparent)]
    Access(#[from] RuleError),
    /// The schema lacks an attribute type that operations need.
    #[error("the schema does not define {0}, which the server needs")]
    SchemaLacks(&'static str),
}

/// Answers LDAP operations. Share it by reference between threads: reads do not lock anything.
pub struct Directory {
    pub(crate) schema: Arc<Schema>,
    pub(crate) databases: Vec<Store>,
    pub(crate) root: Option<Root>,
    pub(crate) rules: Rules,
    pub(crate) limits: Limits,
    pub(crate) known: Known,
    pub(crate) special: Special,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The first stored password that a bind has met: what unknown names are checked against, to take the same time.
    pub(crate) decoy: OnceLock<Vec<u8>>,
    /// Taken by whoever applies a batch of writes.
    pub(crate) csn: Mutex<CsnGenerator>,
}

pub(crate) struct Root {
    pub(crate) name: Name,
    pub(crate) password: Option<Vec<u8>>,
}

/// Where a name leads, as far as that can be told without looking at entries.
pub(crate) enum Place<'d> {
    RootDse,
    Subschema,
    In(&'d Store),
    Nowhere,
}

impl DirectoryOptions {
    /// Options with everything at its default.
    #[must_use]
    pub fn new(schema: Arc<Schema>, stores: Vec<Store>) -> DirectoryOptions {
        DirectoryOptions {
            stores,
            schema,
            root: None,
            access: Vec::new(),
            limits: Limits::default(),
            server_id: 0,
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`OpenError`], each a mistake in the options.
    pub fn open(options: DirectoryOptions) -> Result<Directory, OpenError> {
        let schema = options.schema;
        if options.stores.is_empty() {
            return Err(OpenError::NoStore);
        }
        check_suffixes(&options.stores)?;
        let known = Known::of(&schema)?;
        let rules = Rules::parse(&schema, options.access.iter().map(String::as_str))?;
        let root = options
            .root
            .map(|account| Root::resolve(&schema, account))
            .transpose()?;
        let suffixes = options.stores.iter().flat_map(Store::suffixes);
        let special = Special::new(&schema, &known, suffixes, options.clock.now())?;
        Ok(Directory {
            databases: options.stores,
            root,
            rules,
            limits: options.limits,
            known,
            special,
            clock: options.clock,
            entropy: options.entropy,
            decoy: OnceLock::new(),
            csn: Mutex::new(CsnGenerator::new(options.server_id)),
            schema,
        })
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The stores.
    #[must_use]
    pub fn stores(&self) -> &[Store] {
        &self.databases
    }

    /// The limits of searches.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn place(&self, dn: &Dn) -> Place<'_> {
        if dn.is_root() {
            Place::RootDse
        } else if *dn == self.special.subschema.dn {
            Place::Subschema
        } else {
            self.store_of(dn).map_or(Place::Nowhere, Place::In)
        }
    }

    /// The store whose suffix is the name or above it.
    pub(crate) fn store_of(&self, dn: &Dn) -> Option<&Store> {
        self.databases
            .iter()
            .find(|store| store.suffixes().iter().any(|suffix| dn.is_within(suffix)))
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory")
            .field("stores", &self.databases)
            .finish_non_exhaustive()
    }
}

impl Root {
    fn resolve(schema: &Schema, account: RootAccount) -> Result<Root, OpenError> {
        let dn = Dn::parse(schema, &account.dn).map_err(|source| OpenError::RootDn {
            dn: account.dn,
            source,
        })?;
        Ok(Root {
            name: Name::from(&dn),
            password: account.password,
        })
    }
}

fn check_suffixes(stores: &[Store]) -> Result<(), OpenError> {
    for (at, store) in stores.iter().enumerate() {
        for other in stores.iter().skip(at + 1) {
            for a in store.suffixes() {
                let overlap = |b: &&Dn| a.is_within(b) || b.is_within(a);
                if let Some(b) = other.suffixes().iter().find(overlap) {
                    return Err(OpenError::OverlappingSuffixes(
                        a.pretty().to_owned(),
                        b.pretty().to_owned(),
                    ));
                }
            }
        }
    }
    Ok(())
}
