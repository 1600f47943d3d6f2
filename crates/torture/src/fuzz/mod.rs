//! The bodies of the fuzz targets: each gives any bytes to a reader of outside input.
//!
//! ```text
//!   fuzz/fuzz_targets/NAME.rs     one line each: libFuzzer's bytes -> the body here
//!   tests of this crate           seeds, kept inputs and a few mutations of them -> the same bodies, on stable Rust
//!   torture seeds DIR              writes the seeds, as libFuzzer wants them
//! ```
//!
//! A body asserts what must hold for any input, and otherwise only must come to its end. An input
//! that once broke one is kept in `inputs/NAME`.

mod batches;
mod bytes;
mod configuration;
mod console;
mod cookies;
mod directory;
mod dump_text;
mod files;
mod frames;
mod meaning;
mod metrics;
mod operations;
mod pages;
mod replication;
mod seeds;
mod tools;

use std::path::Path;

pub use batches::cluster_batch;
use bytes::Bytes;
pub use configuration::{settings_toml, slapd_conf};
pub use console::console_http;
pub use cookies::cookies;
pub use directory::{ldap_controls, ldap_dn_text, ldap_filter_text, ldap_message, ldap_url, ldif};
pub use dump_text::dump_text;
pub use files::{check_image, open_and_scan, open_write};
pub use frames::cluster_frame;
pub use meaning::{access_rules, schema_filter, schema_name, schema_text, schema_values};
pub use metrics::metrics_http;
pub use operations::operations;
pub use pages::{free_record, meta, page_views};
pub use replication::{sync_consumer, sync_provider};
pub use tools::{backup_file, salvage};

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// The use of an input.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident: $seeds:expr),* $(,)?) => {
        /// All targets.
        pub const TARGETS: &[Target] = &[$(Target {
            name: stringify!($name),
            run: $name,
            seeds: $seeds,
        }),*];
    };
}

targets! {
    page_views: seeds::pages,
    meta: seeds::metas,
    free_record: seeds::free_records,
    check_image: seeds::files,
    open_and_scan: seeds::files,
    open_write: seeds::files,
    salvage: seeds::files,
    backup_file: seeds::backups,
    operations: seeds::operations,
    dump_text: seeds::dumps,
    ldif: seeds::ldif,
    ldap_message: seeds::messages,
    ldap_filter_text: seeds::filters,
    ldap_dn_text: seeds::names,
    ldap_url: seeds::urls,
    ldap_controls: seeds::controls,
    cookies: cookies::seeds,
    sync_provider: replication::provider_seeds,
    sync_consumer: replication::consumer_seeds,
    cluster_batch: batches::seeds,
    cluster_frame: frames::seeds,
    schema_text: seeds::definitions,
    schema_values: seeds::values,
    schema_name: seeds::names,
    schema_filter: seeds::filters,
    access_rules: seeds::rules,
    slapd_conf: seeds::slapd_confs,
    settings_toml: seeds::settings,
    console_http: console::seeds,
    metrics_http: metrics::seeds,
}

/// Writes the seeds of all targets below a directory.
/// # Errors
/// The system's.
pub fn write_seeds(directory: &Path) -> std::io::Result<()> {
    for target in TARGETS {
        let folder = directory.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number:03}")), seed)?;
        }
    }
    Ok(())
}
