//! The server from outside: its commands, next to the real memcached, under faults and kills.

mod commands;
mod differential;
mod faults;
mod kills;
mod tools;
mod transports;
mod world;
