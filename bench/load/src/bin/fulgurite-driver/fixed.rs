//! A handler that finds one entry for every uid, so that what is measured is the driver.

use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, Filter, LdapResult, Message, MessageId,
    Operation, ResultCode, SearchRequest, encode,
};
use fulgurite_server::{ExtendedReply, ExtendedStep, Handler, Progress, RunningSearch};

pub(crate) struct Fixed;

/// The uid that was asked for.
pub(crate) struct FixedAnswer(MessageId, Vec<u8>);

/// Attributes of the entry in addition to its uid: about as much as a person has.
const ATTRIBUTES: [(&str, &str); 8] = [
    ("objectClass", "inetOrgPerson"),
    ("cn", "Ada Example"),
    ("sn", "Example"),
    ("givenName", "Ada"),
    ("mail", "ada.example@example.org"),
    ("telephoneNumber", "+49 421 555 0100"),
    ("title", "Instrument maker"),
    (
        "description",
        "An entry that is made up for each search that asks for it",
    ),
];

impl Handler for Fixed {
    type Identity = ();
    type Search<'h> = FixedAnswer;
    type Cache<'h> = ();
    type Update = MessageId;
    type PasswordCheck = ();
    type PasswordResult = ();

    fn is_authenticated(&self, (): &()) -> bool {
        true
    }

    fn begin_search(
        &self,
        (): &mut (),
        (): &(),
        id: MessageId,
        search: &SearchRequest<'_>,
        _: &Controls<'_>,
    ) -> FixedAnswer {
        match &search.filter {
            Filter::Equality(equality) => FixedAnswer(id, equality.value.to_vec()),
            _ => FixedAnswer(id, b"anybody".to_vec()),
        }
    }

    fn compare(
        &self,
        (): &mut (),
        (): &(),
        id: MessageId,
        _: &CompareRequest<'_>,
        _: &Controls<'_>,
        out: &mut Vec<u8>,
    ) {
        encode::result(
            out,
            id,
            Operation::Compare,
            &LdapResult::new(ResultCode::CompareTrue),
            &[],
        );
    }

    fn extended(
        &self,
        (): &mut (),
        _: MessageId,
        _: &ExtendedRequest<'_>,
        _: &Controls<'_>,
    ) -> ExtendedStep<(), MessageId> {
        empty_reply()
    }

    fn resume_extended(&self, (): &mut (), (): ()) -> ExtendedStep<(), MessageId> {
        empty_reply()
    }

    fn begin_bind(
        &self,
        (): &mut (),
        (): &mut (),
        id: MessageId,
        _: &BindRequest<'_>,
        _: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        encode::bind_result(out, id, &LdapResult::success(), None, &[]);
        None
    }

    fn check_password(&self, (): ()) {}

    fn finish_bind(&self, (): &mut (), _: MessageId, (): (), _: &mut Vec<u8>) {}

    fn update(&self, (): &mut (), _: &Message<'_>, _: &mut Vec<u8>) -> Option<MessageId> {
        Some(0)
    }

    fn apply(&self, updates: Vec<MessageId>) -> Vec<Vec<u8>> {
        vec![Vec::new(); updates.len()]
    }
}

impl RunningSearch<()> for FixedAnswer {
    fn advance(&mut self, out: &mut Vec<u8>, _: usize, _: &mut usize) -> Progress {
        let FixedAnswer(id, uid) = self;
        let dn = [b"uid=", uid.as_slice(), b",ou=people,dc=example,dc=org"].concat();
        let mut entry = encode::search_entry(out, *id, &dn);
        entry.attribute(b"uid");
        entry.value(uid);
        for (name, value) in ATTRIBUTES {
            entry.attribute(name.as_bytes());
            entry.value(value.as_bytes());
        }
        entry.finish(&[]);
        encode::result(out, *id, Operation::Search, &LdapResult::success(), &[]);
        Progress::Done
    }

    fn release(self, (): &mut ()) {}

    fn park(&mut self) {}
}

fn empty_reply() -> ExtendedStep<(), MessageId> {
    ExtendedStep::Done(ExtendedReply {
        result: LdapResult::success(),
        value: Some(Vec::new()),
    })
}
