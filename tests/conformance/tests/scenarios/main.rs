//! The demands of scripts written for slapd. They start the server as `slapd -s0 -f CONF -h URL -d
//! LEVEL`, and use `slapd -Ta`, `-Tc` and so on. They call all through a link of that name, and
//! look with the ldap-utils.
//!
//! ```text
//!   stage        slapd.conf, tools, server and clients of one scenario, in a folder of its own
//!   data         the organisation that most of them are about
//!   loading tools searching changing rights names identity         scenarios by what they are about
//! ```
//! With `FULGURITE_TEST_SCENARIOS=slapd` Debian's slapd takes our server's place: the scenarios
//! themselves have to be right. Every server is stopped by SIGHUP and has to end with status 0.

#![forbid(unsafe_code)]

mod access_log;
mod applications;
mod berkeley;
mod certificates;
mod chaining;
mod changing;
mod config_copies;
mod configuring;
mod configuring_file;
mod configuring_modules;
mod configuring_twice;
mod conflicts;
mod copies;
mod data;
mod databases;
mod dereferencing;
mod dynlists;
mod everyday;
mod everyday_transport;
mod faulty_copies;
mod foreign_consumers;
mod identity;
mod import;
mod indexing;
mod interrupted_refreshes;
mod loading;
mod memberships;
mod migration;
mod names;
mod operations_log;
mod ordered_filters;
mod ordered_values;
mod overlays;
mod parts;
mod passwords;
mod proxy;
mod purges;
mod reconfigured;
mod records;
mod references;
mod repaired;
mod replication;
mod rights;
mod searching;
mod slapd_by_itself;
mod soak;
mod stage;
mod tools;
mod untold_deletions;
