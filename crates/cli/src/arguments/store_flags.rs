//! Flags that several commands share: the store, its suffix, its schema.

use std::path::PathBuf;

use clap::Args;
use fulgurite_config::parse_bytes;

#[derive(Debug, Args)]
pub(crate) struct StoreFlags {
    /// Settings from this TOML file; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the store
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Maximum size of the data file, such as 64G, in reserved address space [default: 1T]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) map_bytes_max: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SuffixFlag {
    /// DN of the top entry of the data
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaFlags {
    /// Schema file in OpenLDAP's syntax, read after the built-in schema. Repeatable
    #[arg(long = "schema", value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Use the definitions of RFC 2307bis instead of those of RFC 2307
    #[arg(long)]
    pub(crate) rfc2307bis: bool,
}
