//! Password modify and transactions, from request to durable change.

use ResultCode::{NoSuchObject, Success, TransactionIdInvalid, UnwillingToPerform};
use fulgurite_directory::{ExtendedStep, Session, UpdateStep, WriteReply};
use fulgurite_ldap::{
    Control, Controls, EndTransaction, ExtendedRequest, LdapResult, ModifyOperation,
    PasswordModifyRequest, ResponseMessage, ResultCode, oid,
};

use crate::support::{JANE, JOHN, World, add_pdu, code, decode, delete_pdu, modify_pdu, pdu};

/// Does an extended operation with all that follows from it; the result and the value.
fn extended(
    world: &World,
    session: &mut Session,
    oid: &str,
    value: Option<&[u8]>,
) -> (LdapResult, Option<Vec<u8>>) {
    let oid = oid.as_bytes();
    let request = ExtendedRequest { oid, value };
    let step = world
        .directory
        .extended(session, 5, &request, &Controls::NONE);
    let update = match step {
        ExtendedStep::Done(reply) => return (reply.result, reply.value),
        ExtendedStep::Passwords(change) => match change.run() {
            Ok(update) => update,
            Err(result) => return (result, None),
        },
        ExtendedStep::Update(update) => update,
        other => panic!("{other:?}"),
    };
    let WriteReply { result, bytes, .. } = world.directory.apply(&[update]).remove(0);
    let message = ResponseMessage::decode(&bytes).expect("a response");
    assert_eq!(message.id, 5);
    let value = match message.response {
        fulgurite_ldap::Response::Extended { value, .. } => value.map(<[u8]>::to_vec),
        other => panic!("{other:?}"),
    };
    (result, value)
}

fn new_password(
    world: &World,
    session: &Session,
    user: &str,
    (old, new): (Option<&str>, Option<&str>),
) -> (LdapResult, Option<Vec<u8>>) {
    let request = PasswordModifyRequest {
        user_identity: Some(user.as_bytes()),
        old_password: old.map(str::as_bytes),
        new_password: new.map(str::as_bytes),
    };
    let value = request.encode();
    extended(
        world,
        &mut session.clone(),
        oid::PASSWORD_MODIFY,
        Some(&value),
    )
}

#[test]
fn password_modify_needs_the_right_to_the_password() {
    let world = World::new();
    let root = world.root();
    let (result, value) = new_password(&world, &root, JOHN, (None, Some("first")));
    assert_eq!((code(&result), value), (Success, None));
    assert_eq!(code(&world.bind(JOHN, "first").0), Success);
    let stored = world.read(JOHN, &["userPassword", "modifiersName"]);
    let password = stored.get("userPassword");
    assert!(
        matches!(password[..], [hash] if hash.starts_with("{ARGON2}")),
        "{password:?}"
    );
    // A name is written as the entry's is from then on, however the client wrote it.
    let (_, session) = world.bind(&JOHN.to_uppercase(), "first");
    assert_eq!(session.name(), JOHN);
    // Whichever is named as the old one, all of them go.
    let change = (ModifyOperation::Add, "userPassword", &["beside"][..]);
    assert_eq!(code(&world.modify(&root, JOHN, &[change])), Success);
    let (result, _) = new_password(&world, &root, JOHN, (Some("first"), Some("second")));
    assert_eq!(code(&result), Success);
    for (password, expected) in [
        ("first", ResultCode::InvalidCredentials),
        ("second", Success),
        ("beside", ResultCode::InvalidCredentials),
    ] {
        assert_eq!(code(&world.bind(JOHN, password).0), expected, "{password}");
    }
    let (result, _) = new_password(&world, &root, JOHN, (Some("wrong"), Some("third")));
    assert_eq!(code(&result), UnwillingToPerform);
    // Without the right to change a password, its value stays secret.
    let jane = world.user(JANE);
    for old in ["second", "wrong"] {
        let (result, _) = new_password(&world, &jane, JOHN, (Some(old), Some("stolen")));
        assert_eq!(code(&result), UnwillingToPerform, "{old}");
    }
    let (result, _) = new_password(&world, &jane, JOHN, (None, Some("stolen")));
    assert_eq!(code(&result), ResultCode::InsufficientAccessRights);
}

#[test]
fn the_server_generates_a_password() {
    let world = World::new();
    let user = format!("dn:{JOHN}");
    let (result, value) = new_password(&world, &world.root(), &user, (None, None));
    assert_eq!(code(&result), Success);
    let value = value.expect("the password");
    let [0x30, 18, 0x80, 16, password @ ..] = &value[..] else {
        panic!("{value:?}");
    };
    let password = std::str::from_utf8(password).expect("text");
    assert_eq!(code(&world.bind(JOHN, password).0), Success);
}

fn within(request: &[u8]) -> Vec<u8> {
    let control = Control::with_value(oid::TRANSACTION, true, b"");
    pdu(&decode(request).request, &[control])
}

fn keep(world: &World, session: &mut Session, request: &[u8]) -> ResultCode {
    let request = within(request);
    let message = decode(&request);
    match world.directory.begin_update(session, &message) {
        UpdateStep::Answered(result) => result.code,
        other => panic!("{other:?}"),
    }
}

fn end(world: &World, session: &mut Session, commit: bool) -> (LdapResult, Option<Vec<u8>>) {
    let identifier = b"".as_slice();
    let value = EndTransaction { commit, identifier }.encode();
    extended(world, session, oid::END_TRANSACTION, Some(&value))
}

/// Does the updates in one transaction.
pub(crate) fn in_transaction(world: &World, session: &Session, updates: &[Vec<u8>]) -> LdapResult {
    let mut session = session.clone();
    extended(world, &mut session, oid::START_TRANSACTION, None);
    for update in updates {
        assert_eq!(keep(world, &mut session, update), Success);
    }
    end(world, &mut session, true).0
}

#[test]
fn a_transaction_applies_all_updates_or_none() {
    let world = World::new();
    let mut session = world.root();
    let unit = [("objectClass", "organizationalUnit")];
    let add = add_pdu("ou=new,dc=example,dc=com", &unit);
    assert_eq!(keep(&world, &mut session, &add), TransactionIdInvalid);
    let begin = |session: &mut Session| {
        let (result, value) = extended(&world, session, oid::START_TRANSACTION, None);
        assert_eq!((code(&result), value), (Success, Some(Vec::new())));
    };
    begin(&mut session);
    let change = (ModifyOperation::Replace, "title", &["x"][..]);
    for request in [
        &add,
        &modify_pdu(JOHN, &[change]),
        &delete_pdu("ou=none,dc=example,dc=com"),
    ] {
        assert_eq!(keep(&world, &mut session, request), Success);
    }
    assert_eq!(world.names("(ou=new)"), [""; 0], "nothing before the end");
    let (result, blamed) = end(&world, &mut session, true);
    assert_eq!(code(&result), NoSuchObject);
    let id = decode(&within(&delete_pdu("ou=none,dc=example,dc=com"))).id;
    assert_eq!(
        blamed,
        Some(vec![0x30, 3, 2, 1, u8::try_from(id).expect("small")])
    );
    assert_eq!(
        world.names("(|(ou=new)(title=x))"),
        [""; 0],
        "nothing after it"
    );

    begin(&mut session);
    assert_eq!(keep(&world, &mut session, &add), Success);
    assert_eq!(
        keep(&world, &mut session, &modify_pdu(JOHN, &[change])),
        Success
    );
    assert_eq!(code(&end(&world, &mut session, true).0), Success);
    assert_eq!(world.names("(|(ou=new)(title=x))").len(), 2);

    begin(&mut session);
    assert_eq!(keep(&world, &mut session, &delete_pdu(JOHN)), Success);
    assert_eq!(code(&end(&world, &mut session, false).0), Success);
    assert_eq!(world.names("(title=x)").len(), 1);
    assert_eq!(
        code(&end(&world, &mut session, true).0),
        TransactionIdInvalid
    );

    begin(&mut session);
    assert!(session.abort_transaction());
    assert_eq!(keep(&world, &mut session, &add), TransactionIdInvalid);
}

#[test]
fn a_transaction_has_its_limits() {
    let world = World::new();
    let mut session = world.root();
    extended(&world, &mut session, oid::START_TRANSACTION, None);
    let request = within(&delete_pdu(JOHN));
    let message = decode(&request);
    for _ in 0..10_000 {
        let step = world.directory.begin_update(&mut session, &message);
        assert!(matches!(step, UpdateStep::Answered(result) if result.is_success()));
    }
    let step = world.directory.begin_update(&mut session, &message);
    assert!(
        matches!(step, UpdateStep::Aborted(result) if result.code == ResultCode::AdminLimitExceeded)
    );
    assert_eq!(
        code(&end(&world, &mut session, true).0),
        TransactionIdInvalid
    );
    assert_eq!(world.names("(uid=john)").len(), 1);
}
