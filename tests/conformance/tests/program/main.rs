//! The `fulgurite` program as its users call it: commands, messages, signals, hostile peers.

mod applications;
mod backups;
mod check;
mod command_line;
mod config;
mod containers;
mod databases;
mod env_backup;
mod env_readers;
mod hostile;
mod log_lines;
mod logging;
mod memory;
mod metrics;
mod open_metrics;
mod packages;
mod privacy;
mod room;
mod service;
mod service_manager;
mod serving;
mod setup;
mod status;
