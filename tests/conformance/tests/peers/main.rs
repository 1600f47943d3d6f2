//! Our server next to Debian's slapd, and under foreign clients.
//!
//! ```text
//!   generated users + example organisation ──┬──> slapadd, slapd            ──┐
//!                                            └──> fulgurite load, serve     ──┤ differential: every answer side by side
//!                          searches, updates ─────────────────────────────────┘
//!   random access rules ──> both ─ everybody tries everything ──────────────────> access: the same is granted and hidden
//!   ldap-utils, python-ldap, ldap3 ────────────> fulgurite serve                clients: they work unmodified
//! ```
//! `FULGURITE_TEST_PEERS=slapd` puts slapd in our server's place: the tests themselves must then
//! find nothing.

#![forbid(unsafe_code)]

mod access;
mod clients;
mod compare;
mod data;
mod deeds;
mod differential;
mod filters;
mod identities;
mod queries;
mod rules;
mod schema;
mod searches;
mod servers;
mod side_by_side;
mod situations;
mod updates;
mod writes;
