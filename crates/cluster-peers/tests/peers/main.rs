//! Nodes that send each other frames over TLS, strangers, and drivers on a real etcd.

#![forbid(unsafe_code)]

mod drivers;
mod hostile;
mod links;
mod trust;
