//! Requests, as bytes.

use fulgurite_ldap::{
    AddRequest, Assertion, BindRequest, Change, CompareRequest, DeleteRequest, ExtendedRequest,
    Filter, FilterBuf, ModifyOperation, ModifyRequest, PartialAttribute, Request, Scope,
    SearchRequest, Substrings, Values, encode, oid,
};

use crate::options::Kind;
use crate::pieces::Position;
use crate::workload::Workload;

impl Workload {
    /// Appends the `n`th request.
    pub(crate) fn request(&self, n: u64, id: u32, out: &mut Vec<u8>) {
        if self
            .with_filter(n, |filter| self.search(filter, id, out))
            .is_some()
        {
            return;
        }
        let target = self.targets.pick(self.seed, n);
        let of = |text: fn(&crate::targets::Target) -> &str| target.map_or("", text);
        let (dn, seed) = (of(|target| &target.dn), self.seed);
        match self.kind {
            Kind::Base => {
                let all = Filter::Present(b"objectClass");
                let search = SearchRequest::new(dn, Scope::Base, all);
                send(Request::Search(search), id, out);
            }
            Kind::Bind => {
                // Where passwords have the number of the user in them.
                let number = of(|target| &target.uid)
                    .rsplit('.')
                    .next()
                    .unwrap_or_default();
                let password = self.password.replace("{}", number);
                let bind = BindRequest::simple(dn, password.as_bytes());
                send(Request::Bind(bind), id, out);
            }
            Kind::Compare => {
                let assertion = Assertion {
                    attribute: b"mail",
                    value: of(|target| &target.mail).as_bytes(),
                };
                let dn = dn.as_bytes();
                send(Request::Compare(CompareRequest { dn, assertion }), id, out);
            }
            Kind::Modify => replace(
                dn,
                "description",
                &format!("changed by request {n}"),
                id,
                out,
            ),
            Kind::ModifyIndexed => {
                replace(dn, "givenName", &format!("Changed {seed} {n}"), id, out);
            }
            Kind::Add => self.add(n, id, out),
            Kind::AddLdif => {
                let record = usize::try_from(n).ok().and_then(|at| self.records.get(at));
                if let Some(record) = record {
                    record.with_request(|request| send(Request::Add(request), id, out));
                }
            }
            Kind::Delete => {
                let dn = self.added(n);
                let dn = dn.as_bytes();
                send(Request::Delete(DeleteRequest { dn }), id, out);
            }
            Kind::GroupAdd => change(
                &self.group,
                ModifyOperation::Add,
                "member",
                &self.added(n),
                id,
                out,
            ),
            Kind::Whoami => {
                let oid = oid::WHO_AM_I.as_bytes();
                let value = None;
                send(Request::Extended(ExtendedRequest { oid, value }), id, out);
            }
            // These have a filter.
            Kind::Uid
            | Kind::Mail
            | Kind::MailServer
            | Kind::Missing
            | Kind::Substring
            | Kind::SubstringInitial
            | Kind::SubstringAny
            | Kind::SubstringFinal
            | Kind::Scan => {}
        }
    }

    /// Returns the filter of the `n`th request as text (RFC 4515), if it searches the whole tree.
    pub(crate) fn filter_text(&self, n: u64) -> Option<String> {
        self.with_filter(n, |filter| filter.to_string())
    }

    /// Gives the filter of the `n`th request to `take`, if the request searches the whole tree.
    fn with_filter<T>(&self, n: u64, take: impl FnOnce(Filter<'_>) -> T) -> Option<T> {
        let target = self.targets.pick(self.seed, n);
        let of = |text: fn(&crate::targets::Target) -> &str| target.map_or("", text);
        let missing = format!("nobody.{}.{n}", self.seed);
        let equality = |attribute, value| Filter::Equality(Assertion { attribute, value });
        let filter = match self.kind {
            Kind::Uid => equality(b"uid", of(|target| &target.uid).as_bytes()),
            Kind::Mail => equality(b"mail", of(|target| &target.mail).as_bytes()),
            Kind::Missing => equality(b"uid", missing.as_bytes()),
            Kind::MailServer => {
                let attribute = if n.is_multiple_of(2) {
                    "zimbraMailDeliveryAddress"
                } else {
                    "zimbraMailAlias"
                };
                let address = of(|target| &target.mail);
                let text = format!("(&({attribute}={address})(zimbraMailStatus=enabled))");
                let filter = FilterBuf::parse(&text).ok()?;
                return Some(take(filter.filter()));
            }
            Kind::Scan => self.filter.filter(),
            Kind::Substring => {
                let word = [of(|target| &target.word).as_bytes()];
                return Some(take(Filter::Substrings(Substrings {
                    attribute: b"cn",
                    initial: None,
                    any: Values::from_slices(&word),
                    final_: None,
                })));
            }
            _ => {
                let pieces = self.pieces.as_ref()?;
                let text = [pieces.of(n)?.text.as_bytes()];
                let end = |position| (pieces.position == position).then_some(text[0]);
                let any = match pieces.position {
                    Position::Any => Values::from_slices(&text),
                    Position::Initial | Position::Final => Values::from_slices(&[]),
                };
                return Some(take(Filter::Substrings(Substrings {
                    attribute: b"cn",
                    initial: end(Position::Initial),
                    any,
                    final_: end(Position::Final),
                })));
            }
        };
        Some(take(filter))
    }

    fn search(&self, filter: Filter<'_>, id: u32, out: &mut Vec<u8>) {
        let search = SearchRequest::new(&self.base, Scope::Subtree, filter);
        send(Request::Search(search), id, out);
    }

    /// The name of the `n`th entry that this run adds.
    fn added(&self, n: u64) -> String {
        format!("uid=added.{}.{n},ou=people,{}", self.seed, self.base)
    }

    fn add(&self, n: u64, id: u32, out: &mut Vec<u8>) {
        let uid = format!("added.{}.{n}", self.seed);
        let mail = format!("{uid}@example.com");
        let cn = format!("Added Person {n}");
        let classes: [&[u8]; 3] = [b"person", b"organizationalPerson", b"inetOrgPerson"];
        let (uid, mail, cn) = ([uid.as_bytes()], [mail.as_bytes()], [cn.as_bytes()]);
        let (sn, description): ([&[u8]; 1], [&[u8]; 1]) = ([b"Person"], [b"added by a benchmark"]);
        let dn = self.added(n);
        let request = AddRequest {
            dn: dn.as_bytes(),
            attributes: vec![
                PartialAttribute::new("objectClass", &classes),
                PartialAttribute::new("uid", &uid),
                PartialAttribute::new("mail", &mail),
                PartialAttribute::new("cn", &cn),
                PartialAttribute::new("sn", &sn),
                PartialAttribute::new("description", &description),
            ],
        };
        send(Request::Add(request), id, out);
    }
}

fn replace(dn: &str, attribute: &str, value: &str, id: u32, out: &mut Vec<u8>) {
    change(dn, ModifyOperation::Replace, attribute, value, id, out);
}

fn change(
    dn: &str,
    operation: ModifyOperation,
    attribute: &str,
    value: &str,
    id: u32,
    out: &mut Vec<u8>,
) {
    let values = [value.as_bytes()];
    let change = Change {
        operation,
        attribute: PartialAttribute::new(attribute, &values),
    };
    let modify = ModifyRequest {
        dn: dn.as_bytes(),
        changes: vec![change],
    };
    send(Request::Modify(modify), id, out);
}

fn send(request: Request<'_>, id: u32, out: &mut Vec<u8>) {
    encode::request(out, id, &request, &[]);
}
