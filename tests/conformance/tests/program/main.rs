//! The `fulgurite` program as its users call it: commands, messages, signals, hostile peers.

mod check;
mod command_line;
mod config;
mod containers;
mod databases;
mod env_backup;
mod env_readers;
mod hostile;
mod logging;
mod memory;
mod privacy;
mod service;
mod serving;
