//! What is asked for, and what has to come back.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, ensure};
use clap::ValueEnum;
use fulgurite_ldap::{
    Assertion, BindRequest, Change, CompareRequest, ExtendedRequest, Filter, FilterBuf,
    ModifyOperation, ModifyRequest, PartialAttribute, Request, ResultCode, Scope, SearchRequest,
    encode, oid,
};

use crate::Arguments;
use crate::targets::{Target, Targets};

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Search the whole tree for one uid.
    Uid,
    /// Search the whole tree for one mail address.
    Mail,
    /// Search the whole tree for the middle of somebody's cn.
    Substring,
    /// Search the whole tree by a filter, all attributes.
    Scan,
    /// Bind as one of the users.
    Bind,
    /// Compare the uid of one of the users.
    Compare,
    /// Replace one attribute of one of the users.
    Modify,
    /// Ask who we are: a request that reads nothing.
    Whoami,
}

/// Requests and the answers they have to get.
pub(crate) struct Workload {
    kind: Kind,
    targets: Targets,
    seed: u64,
    base: String,
    filter: FilterBuf,
    password: String,
    /// Entries of a scan; 0 until known.
    expect_entries: AtomicU64,
}

impl Workload {
    pub(crate) fn new(arguments: &Arguments, targets: Targets) -> anyhow::Result<Workload> {
        let kind = arguments.workload;
        if matches!(
            kind,
            Kind::Uid | Kind::Mail | Kind::Substring | Kind::Bind | Kind::Compare | Kind::Modify
        ) {
            ensure!(
                !targets.is_empty(),
                "this workload needs an --ldif with entries that have a uid"
            );
        }
        if kind == Kind::Bind {
            ensure!(
                arguments.password.is_some(),
                "the workload bind needs the users' --password"
            );
            ensure!(
                arguments.depth == 1,
                "binds cannot be pipelined: use --depth 1"
            );
        }
        Ok(Workload {
            kind,
            targets,
            seed: arguments.seed,
            base: arguments.base.clone(),
            filter: FilterBuf::parse(&arguments.filter).context("--filter is not a filter")?,
            password: arguments.password.clone().unwrap_or_default(),
            expect_entries: AtomicU64::new(arguments.expect_entries.unwrap_or(0)),
        })
    }

    /// Appends the `n`th request.
    pub(crate) fn request(&self, n: u64, id: u32, out: &mut Vec<u8>) {
        let target = self.targets.pick(self.seed, n);
        let uid = target.map_or("", |target| target.uid.as_str());
        let dn = target.map_or("", |target| target.dn.as_str());
        let request = |request: Request<'_>, out| encode::request(out, id, &request, &[]);
        match self.kind {
            Kind::Uid | Kind::Mail => {
                let mail = target.map_or("", |target| target.mail.as_str());
                let (attribute, value) = match self.kind {
                    Kind::Mail => (&b"mail"[..], mail),
                    _ => (&b"uid"[..], uid),
                };
                let filter = Filter::Equality(Assertion {
                    attribute,
                    value: value.as_bytes(),
                });
                request(
                    Request::Search(SearchRequest::new(&self.base, Scope::Subtree, filter)),
                    out,
                );
            }
            Kind::Substring => {
                let named = self.targets.pick_named(self.seed, n);
                let middle = named.map_or("", |target| middle(&target.cn));
                // Names of letters and spaces need no escapes.
                let parsed = FilterBuf::parse(&format!("(cn=*{middle}*)"));
                let filter = parsed.as_ref().unwrap_or(&self.filter).filter();
                request(
                    Request::Search(SearchRequest::new(&self.base, Scope::Subtree, filter)),
                    out,
                );
            }
            Kind::Scan => {
                let filter = self.filter.filter();
                request(
                    Request::Search(SearchRequest::new(&self.base, Scope::Subtree, filter)),
                    out,
                );
            }
            Kind::Bind => {
                let number = uid.rsplit('.').next().unwrap_or_default();
                let password = self.password.replace("{}", number);
                let bind = BindRequest::simple(dn, password.as_bytes());
                request(Request::Bind(bind), out);
            }
            Kind::Compare => {
                let assertion = Assertion {
                    attribute: b"uid",
                    value: uid.as_bytes(),
                };
                let compare = CompareRequest {
                    dn: dn.as_bytes(),
                    assertion,
                };
                request(Request::Compare(compare), out);
            }
            Kind::Modify => {
                let value = format!("changed by request {n}");
                let values = [value.as_bytes()];
                let change = Change {
                    operation: ModifyOperation::Replace,
                    attribute: PartialAttribute::new("description", &values),
                };
                let modify = ModifyRequest {
                    dn: dn.as_bytes(),
                    changes: vec![change],
                };
                request(Request::Modify(modify), out);
            }
            Kind::Whoami => {
                let extended = ExtendedRequest {
                    oid: oid::WHO_AM_I.as_bytes(),
                    value: None,
                };
                request(Request::Extended(extended), out);
            }
        }
    }

    /// Whether an entry is what the `n`th request asked for.
    pub(crate) fn entry_fits(&self, n: u64, dn: &[u8]) -> bool {
        match (self.kind, self.targets.pick(self.seed, n)) {
            (Kind::Uid | Kind::Mail, Some(Target { dn: expected, .. })) => {
                dn.eq_ignore_ascii_case(expected.as_bytes())
            }
            (Kind::Scan | Kind::Substring, _) => true,
            _ => false,
        }
    }

    /// Whether a result fits, after `entries` entries.
    pub(crate) fn result_fits(&self, code: ResultCode, entries: u64) -> bool {
        let expected = match self.kind {
            Kind::Uid | Kind::Mail => 1,
            // Others may be called the same.
            Kind::Substring => return code == ResultCode::Success && entries > 0,
            Kind::Scan => {
                let known = self.expect_entries.compare_exchange(
                    0,
                    entries,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                known
                    .unwrap_or_else(|expected| expected)
                    .max(u64::from(known.is_ok()) * entries)
            }
            Kind::Bind | Kind::Compare | Kind::Modify | Kind::Whoami => 0,
        };
        let wanted = match self.kind {
            Kind::Compare => ResultCode::CompareTrue,
            _ => ResultCode::Success,
        };
        code == wanted && entries == expected
    }
}

/// What is left of a name of some length without two letters at either end.
fn middle(name: &str) -> &str {
    let inner = name.get(2..name.len().saturating_sub(2));
    inner.filter(|inner| inner.len() >= 3).unwrap_or(name)
}
