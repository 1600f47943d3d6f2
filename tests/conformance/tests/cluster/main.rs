//! A cluster: three servers on a real etcd, made by the commands of an administrator.
//!
//! Clients of all nodes write while nodes are killed and stopped. In the end no acknowledged
//! change is missing, no refused one is there, and all nodes hold the same entries.

mod cuts;
mod disks;
mod life;
mod nodes;
mod reads;
mod seen;
mod soak;
mod trials;
mod writers;
