//! The overlay `ppolicy`, with a clock that only the tests advance.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulgurite_directory::{
    BindStep, Clock, DatabaseOptions, Directory, DirectoryOptions, RuleText, Session, Timestamp,
    WarningLog,
};
use fulgurite_ldap::{
    BindRequest, Control, LdapResult, ModifyOperation, Request, ResponseMessage, ResultCode, Scope,
    oid,
};
use fulgurite_schema::{Builtin, SchemaBuilder};
use fulgurite_store::{Store, StoreOptions};

use crate::guards::overlay;
use crate::sasl::people;
use crate::support::{
    JANE, JOHN, PEOPLE, ROOT, TOP, World, asked, decode, modify_pdu, pdu, write_request,
};
use ResultCode::{InsufficientAccessRights, InvalidCredentials, Success};

pub(crate) const POLICY: &str = "cn=policy,dc=example,dc=com";

/// A world in which all names have one policy.
pub(crate) fn world(lines: &[&str], rules: &[(&str, &str)]) -> World {
    world_with(lines, rules, |_| {})
}

pub(crate) fn world_with(
    lines: &[&str],
    rules: &[(&str, &str)],
    adjust_more: impl FnOnce(&mut DirectoryOptions),
) -> World {
    let schema = SchemaBuilder::standard().builtin(Builtin::PasswordPolicy);
    let schema = Arc::new(schema.build().expect("the built-in schema resolves"));
    let default = format!("ppolicy_default {POLICY}");
    let lines = [&[default.as_str()], lines].concat();
    let adjust = |options: &mut DirectoryOptions| {
        options.databases[0].overlays = vec![overlay("ppolicy", &lines)];
        people(options);
        let rule = "to * by self write by anonymous auth by * read".to_owned();
        options.access = vec![RuleText::from(rule)];
        adjust_more(options);
    };
    let world = World::empty_with_schema(schema, adjust, |_| {});
    world.load_example();
    let policy = [
        ("objectClass", "device"),
        ("objectClass", "pwdPolicy"),
        ("cn", "policy"),
        ("pwdAttribute", "userPassword"),
    ];
    let policy = [&policy[..], rules].concat();
    let result = world.add(&world.root(), POLICY, &policy);
    assert_eq!(result, LdapResult::success());
    world
}

/// The answer to a bind: its code, and its controls in hexadecimal digits.
type Answer = (ResultCode, Vec<(String, String)>);

pub(crate) fn begin(
    world: &World,
    session: &mut Session,
    request: &BindRequest<'_>,
    controls: &[Control<'_>],
) -> BindStep {
    let pdu = pdu(&Request::Bind(*request), controls);
    let message = decode(&pdu);
    let Request::Bind(request) = &message.request else {
        unreachable!("a bind was encoded")
    };
    world
        .directory
        .begin_bind(session, request, &message.controls)
}

pub(crate) fn finish(world: &World, session: &mut Session, step: BindStep) -> Answer {
    let outcome = match step {
        BindStep::Done(outcome) => outcome,
        BindStep::Check(check) => check.run(&world.directory),
    };
    let code = outcome.result.code;
    let mut out = Vec::new();
    outcome.finish(session, 7, &mut out);
    (code, controls(&out))
}

pub(crate) fn controls(response: &[u8]) -> Vec<(String, String)> {
    let message = ResponseMessage::decode(response).expect("a response");
    let text = |control: Control<'_>| {
        let oid = String::from_utf8_lossy(control.oid).into_owned();
        let value = control.value.unwrap_or_default().iter();
        (oid, value.map(|byte| format!("{byte:02x}")).collect())
    };
    message.controls.iter().map(text).collect()
}

fn policy_control<'c>() -> Control<'c> {
    Control {
        oid: oid::PASSWORD_POLICY.as_bytes(),
        critical: true,
        value: None,
    }
}

/// Binds with the control of policies.
pub(crate) fn bind(world: &World, dn: &str, password: &str) -> (ResultCode, String) {
    let mut session = Session::new();
    let request = BindRequest::simple(dn, password.as_bytes());
    let step = begin(world, &mut session, &request, &[policy_control()]);
    let (code, controls) = finish(world, &mut session, step);
    let control = controls.into_iter().next();
    (code, control.map_or_else(String::new, |(_, value)| value))
}

pub(crate) fn jane(world: &World, password: &str) -> (ResultCode, String) {
    bind(world, JANE, password)
}

pub(crate) fn refused(control: &str) -> (ResultCode, String) {
    (InvalidCredentials, control.to_owned())
}

pub(crate) fn accepted(control: &str) -> (ResultCode, String) {
    (Success, control.to_owned())
}

pub(crate) fn count(world: &World, name: &str) -> usize {
    world.read(JANE, &[name]).get(name).len()
}

/// As in slapd 2.6: nobody can guess a password that is not there.
#[test]
fn failures_of_an_entry_without_password_are_not_recorded() {
    let world = world(&[], &[("pwdMaxFailure", "2")]);
    let state = || world.read(TOP, &["+"]);
    let before = state();
    assert_eq!(bind(&world, TOP, "wrong"), refused("3000"));
    assert_eq!(state(), before);
}

#[test]
fn the_control_of_account_usability_says_which_accounts_can_be_used() {
    let rules = [
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "1"),
        ("pwdLockoutDuration", "10"),
    ];
    let world = world(&[], &rules);
    let usability = |session: &Session, critical| {
        let mut asked = asked(TOP, Scope::Subtree, "(uid=jane)", &["1.1"]);
        asked.controls = vec![(oid::ACCOUNT_USABILITY, critical, None)];
        let bytes = world.answer(session, &asked);
        let len = fulgurite_ldap::frame(&bytes, usize::MAX).expect("framed");
        let first = bytes.get(..len.expect("whole")).unwrap_or_default();
        controls(first).into_iter().next()
    };
    let value = |text: &str| Some((oid::ACCOUNT_USABILITY.to_owned(), text.to_owned()));
    assert_eq!(usability(&world.root(), true), value("8001ff"));
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    let locked = "a10f8001ff81010082010083010084010a";
    assert_eq!(usability(&world.root(), false), value(locked));
    // Anonymous may read the entry, but not compare the password.
    assert_eq!(usability(&Session::new(), false), None);
    let without = World::new();
    let mut asked = asked(TOP, Scope::Base, "(objectClass=*)", &["1.1"]);
    asked.controls = vec![(oid::ACCOUNT_USABILITY, true, None)];
    let refused = without.search(&without.root(), &asked).result;
    assert_eq!(refused.code, ResultCode::UnavailableCriticalExtension);
}

#[test]
fn too_many_failures_lock_a_name_for_a_while() {
    let rules = [
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "2"),
        ("pwdLockoutDuration", "10"),
    ];
    let world = world(&["ppolicy_use_lockout"], &rules);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(count(&world, "pwdFailureTime"), 1);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    assert_eq!(count(&world, "pwdFailureTime"), 0);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    let state = world.read(JANE, &["pwdAccountLockedTime"]);
    assert_eq!(state.get("pwdAccountLockedTime"), ["20260102030405Z"]);
    world.clock.sleep_s(9);
    assert_eq!(jane(&world, "jane's"), refused("3003810101"));
    assert_eq!(count(&world, "pwdFailureTime"), 2, "nothing is recorded");
    world.clock.sleep_s(1);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    assert_eq!(count(&world, "pwdAccountLockedTime"), 0);
}

#[test]
fn guesses_in_parallel_all_count() {
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "3")];
    let world = world(&[], &rules);
    let request = |password: &'static str| BindRequest::simple(JANE, password.as_bytes());
    let mut sessions = vec![Session::new(); 6];
    let steps: Vec<BindStep> = sessions
        .iter_mut()
        .map(|session| begin(&world, session, &request("wrong"), &[]))
        .collect();
    for (session, step) in sessions.iter_mut().zip(steps) {
        assert!(matches!(step, BindStep::Check(_)), "a policy may write");
        assert_eq!(finish(&world, session, step).0, InvalidCredentials);
    }
    assert_eq!(count(&world, "pwdFailureTime"), 3);
    assert_eq!(jane(&world, "jane's"), refused("3000"));
}

/// A clock that does something once, when the time is asked for.
#[derive(Default)]
struct BusyClock(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Clock for BusyClock {
    fn now(&self) -> Timestamp {
        let task = self.0.lock().expect("no panic before").take();
        if let Some(task) = task {
            task();
        }
        Timestamp(1_767_323_045_000_000)
    }

    fn elapsed_us(&self) -> u64 {
        0
    }
}

#[test]
fn a_lock_that_comes_while_the_password_is_checked_counts() {
    let world = world(&[], &[("pwdLockout", "TRUE")]);
    let clock = Arc::new(BusyClock::default());
    let schema = Arc::clone(world.directory.schema());
    let own = DatabaseOptions::new(Arc::clone(&world.store));
    let mut options = DirectoryOptions::new(schema, vec![own]);
    let default = format!("ppolicy_default {POLICY}");
    options.databases[0].overlays = vec![overlay("ppolicy", &[&default])];
    options.clock = Arc::<BusyClock>::clone(&clock);
    let busy = Directory::open(options).expect("a directory");
    let bind = |lock: Option<Box<dyn FnOnce() + Send>>| {
        let pdu = pdu(&Request::Bind(BindRequest::simple(JANE, b"jane's")), &[]);
        let message = decode(&pdu);
        let Request::Bind(request) = &message.request else {
            unreachable!("a bind was encoded")
        };
        let mut session = Session::new();
        let step = busy.begin_bind(&mut session, request, &message.controls);
        let BindStep::Check(check) = step else {
            unreachable!("a policy may write")
        };
        *clock.0.lock().expect("no panic before") = lock;
        check.run(&busy).result.code
    };
    assert_eq!(bind(None), Success);
    // The first question for the time comes after the state is read.
    let world = Arc::new(world);
    let locking = Arc::clone(&world);
    let lock = move || {
        let forever = &["000001010000Z"][..];
        let change = [(ModifyOperation::Replace, "pwdAccountLockedTime", forever)];
        let result = locking.modify(&locking.root(), JANE, &change);
        assert_eq!(result, LdapResult::success());
    };
    assert_eq!(bind(Some(Box::new(lock))), InvalidCredentials);
}

/// The lines of the log.
#[derive(Default)]
pub(crate) struct Lines(Mutex<Vec<String>>);

impl WarningLog for Lines {
    fn warn(&self, line: &str) {
        self.0
            .lock()
            .expect("no panic before")
            .push(line.to_owned());
    }
}

impl Lines {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic before"))
    }
}

pub(crate) fn logged(lines: &[&str], rules: &[(&str, &str)]) -> (World, Arc<Lines>) {
    let log = Arc::new(Lines::default());
    let world = world_with(lines, rules, |options| {
        options.log = Arc::<Lines>::clone(&log);
    });
    // The example came before its policy.
    log.take();
    (world, log)
}

#[test]
fn the_start_names_a_default_policy_that_lets_no_password_pass() {
    for (quality, settings, expected) in [
        ("2", "useCracklib 1", "useCracklib: there is no dictionary"),
        ("0", "useCracklib 1", ""),
        ("2", "useCracklib 0", ""),
    ] {
        let rules = [
            ("objectClass", "pwdPolicyChecker"),
            ("pwdCheckQuality", quality),
            ("pwdCheckModule", "ppm.so"),
            ("pwdCheckModuleArg", settings),
        ];
        let (mut world, log) = logged(&[], &rules);
        world.reopen(|options| {
            let default = format!("ppolicy_default {POLICY}");
            options.databases[0].overlays = vec![overlay("ppolicy", &[&default])];
            options.log = Arc::<Lines>::clone(&log);
        });
        let lines = log.take().concat();
        let text = "under this password policy no user can set a password: ";
        let (_, reason) = lines.split_once(text).unwrap_or_default();
        assert_eq!(reason, expected, "{lines}");
    }
}

#[test]
fn a_bind_that_is_not_recorded_is_logged() {
    let rules = [
        ("pwdLockout", "TRUE"),
        ("pwdMaxFailure", "9"),
        ("pwdMaxAge", "100"),
        ("pwdGraceAuthNLimit", "2"),
    ];
    let (world, log) = logged(&[], &rules);
    let change = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&world.root(), JANE, &change).code, Success);
    world.clock.sleep_s(200);
    // There is no room for more.
    world.store.limit_entries(Some(16));
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    let lines = log.take();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let head = format!("the bind of {JANE:?} is not recorded: ");
    assert!(lines[0].starts_with(&head), "{lines:?}");
    // As in slapd, a right password stays right.
    world.clock.sleep_s(60);
    assert_eq!(jane(&world, "new"), accepted("3005a003810101"));
    assert_eq!(log.take().len(), 1);
    assert_eq!(count(&world, "pwdGraceUseTime"), 0);
}

#[test]
fn a_policy_that_is_none_is_logged() {
    let (world, log) = logged(&[], &[]);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(log.take(), [""; 0]);
    let other = [(ModifyOperation::Replace, "pwdPolicySubentry", &[JOHN][..])];
    assert_eq!(world.modify(&world.root(), JANE, &other).code, Success);
    for _ in 0..3 {
        assert_eq!(jane(&world, "jane's"), accepted("3000"));
    }
    let expected =
        format!("ppolicy: policy subentry {JOHN:?} missing or invalid, no policy will be applied");
    assert_eq!(log.take(), [expected]);
}

#[test]
fn delays_double_up_to_the_longest() {
    let world = world(&[], &[("pwdMinDelay", "2"), ("pwdMaxDelay", "5")]);
    for delay_s in [2, 4, 5, 5] {
        assert_eq!(jane(&world, "wrong"), refused("3000"));
        world.clock.sleep_s(delay_s - 1);
        assert_eq!(jane(&world, "jane's"), refused("3000"), "{delay_s}");
        world.clock.sleep_s(1);
    }
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
    assert_eq!(count(&world, "pwdAccountTmpLockoutEnd"), 0);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    world.clock.sleep_s(2);
    assert_eq!(jane(&world, "jane's"), accepted("3000"));
}

#[test]
fn names_that_do_not_exist_look_like_others() {
    let world = world(&[], &[]);
    let unknown = format!("uid=nobody,{TOP}");
    assert_eq!(bind(&world, &unknown, "x"), refused("3000"));
    assert_eq!(jane(&world, "x"), refused("3000"));
    assert_eq!(bind(&world, ROOT, "secret"), accepted(""));
    assert_eq!(bind(&world, ROOT, "x"), refused(""));
}

#[test]
fn expired_passwords_permit_some_binds() {
    let rules = [
        ("pwdMaxAge", "100"),
        ("pwdExpireWarning", "20"),
        ("pwdGraceAuthNLimit", "2"),
    ];
    let world = world(&[], &rules);
    let change = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&world.root(), JANE, &change).code, Success);
    assert_eq!(jane(&world, "new"), accepted("3000"));
    world.clock.sleep_s(97);
    assert_eq!(jane(&world, "new"), accepted("3005a003800103"));
    world.clock.sleep_s(3);
    assert_eq!(jane(&world, "new"), accepted("3005a003800100"));
    world.clock.sleep_s(1);
    assert_eq!(jane(&world, "wrong"), refused("3000"));
    assert_eq!(jane(&world, "new"), accepted("3005a003810101"));
    assert_eq!(jane(&world, "new"), accepted("3005a003810100"));
    assert_eq!(jane(&world, "new"), refused("3003810100"));
    assert_eq!(count(&world, "pwdGraceUseTime"), 2);
}

#[test]
fn clients_without_the_control_get_those_of_netscape() {
    let rules = [("pwdMaxAge", "100"), ("pwdExpireWarning", "90")];
    let world = world(&["ppolicy_send_netscape_controls"], &rules);
    let change = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&world.root(), JANE, &change).code, Success);
    let answer = || {
        let mut session = Session::new();
        let step = begin(
            &world,
            &mut session,
            &BindRequest::simple(JANE, b"new"),
            &[],
        );
        finish(&world, &mut session, step)
    };
    let control = |oid: &str, value: &str| vec![(oid.to_owned(), value.to_owned())];
    world.clock.sleep_s(50);
    let expiring = control(oid::NETSCAPE_PASSWORD_EXPIRING, "3530");
    assert_eq!(answer(), (Success, expiring));
    world.clock.sleep_s(51);
    let expired = control(oid::NETSCAPE_PASSWORD_EXPIRED, "30");
    assert_eq!(answer(), (InvalidCredentials, expired));
}

#[test]
fn a_reset_password_restricts_the_connection_until_it_changes() {
    let world = world(&[], &[("pwdMustChange", "TRUE")]);
    let set =
        |password: &'static [&'static str]| [(ModifyOperation::Replace, "userPassword", password)];
    assert_eq!(
        world.modify(&world.root(), JANE, &set(&["new"])).code,
        Success
    );
    let mut session = Session::new();
    let request = BindRequest::simple(JANE, b"new");
    let step = begin(&world, &mut session, &request, &[policy_control()]);
    let (code, controls) = finish(&world, &mut session, step);
    assert_eq!((code, controls[0].1.as_str()), (Success, "3003810102"));
    let search = asked(TOP, Scope::Base, "(objectClass=*)", &[]);
    let searched = || world.search(&session, &search).result.code;
    assert_eq!(searched(), InsufficientAccessRights);
    let root_dse = asked("", Scope::Base, "(objectClass=*)", &[]);
    assert_eq!(world.search(&session, &root_dse).result.code, Success);
    let title = [(ModifyOperation::Replace, "title", &["x"][..])];
    let refused = world.modify(&session, JANE, &title);
    assert_eq!(
        refused.diagnostic,
        "Operations are restricted to bind/unbind/abandon/StartTLS/modify password"
    );
    // Neither nothing, nor a value that no bind looks at, nor a mere deletion is a new password.
    let nothing: [(ModifyOperation, &str, &[&str]); 0] = [];
    let optioned = [(ModifyOperation::Replace, "userPassword;lang-de", &["x"][..])];
    assert_eq!(
        world.modify(&session, JANE, &nothing).code,
        InsufficientAccessRights
    );
    assert_eq!(
        world.modify(&session, JANE, &optioned).code,
        InsufficientAccessRights
    );
    let deletion = [(ModifyOperation::Delete, "userPassword", &[][..])];
    assert_eq!(world.modify(&session, JANE, &deletion).code, Success);
    assert_eq!(searched(), InsufficientAccessRights);
    assert_eq!(world.modify(&session, JANE, &set(&["newer"])).code, Success);
    assert_eq!(searched(), Success);
    assert_eq!(count(&world, "pwdReset"), 0);
    assert_eq!(jane(&world, "newer"), accepted("3000"));
}

#[test]
fn a_refused_password_is_explained_to_clients_that_ask() {
    let rules = [("pwdCheckQuality", "1"), ("pwdMinLength", "5")];
    let world = world(&[], &rules);
    let jane = world.user(JANE);
    let change = [(ModifyOperation::Replace, "userPassword", &["abc"][..])];
    let plain = modify_pdu(JANE, &change);
    let Request::Modify(request) = decode(&plain).request else {
        unreachable!("a modify was encoded")
    };
    let asking = pdu(&Request::Modify(request), &[policy_control()]);
    let marked = [(
        ModifyOperation::Replace,
        "userPassword",
        &["{CLEARTEXT}abc"][..],
    )];
    let marked = modify_pdu(JANE, &marked);
    for (pdu, expected) in [(&plain, ""), (&marked, ""), (&asking, "3003810106")] {
        let reply = world
            .directory
            .apply(&[write_request(&jane, pdu)])
            .remove(0);
        assert_eq!(
            reply.result.diagnostic,
            "Password fails quality checking policy"
        );
        let controls = controls(&reply.bytes);
        let value = controls.first().map_or("", |(_, value)| value);
        assert_eq!(value, expected);
    }
    assert_eq!(count(&world, "pwdChangedTime"), 0);
}

#[test]
fn few_deleted_passwords_are_compared_with_hashes() {
    let world = world(&["ppolicy_hash_cleartext"], &[]);
    let own = world.user(JANE);
    let set = [(ModifyOperation::Replace, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&own, JANE, &set).code, Success);
    let delete =
        |values: &'static [&'static str]| [(ModifyOperation::Delete, "userPassword", values)];
    let many = delete(&["a", "b", "c", "d", "new"]);
    let result = world.modify(&own, JANE, &many);
    assert_eq!(result.code, ResultCode::NoSuchAttribute);
    let one = delete(&["new"]);
    assert_eq!(world.modify(&own, JANE, &one).code, Success);
}

#[test]
fn passwords_in_clear_are_hashed_on_demand() {
    let world = world(&["ppolicy_hash_cleartext"], &[("pwdInHistory", "2")]);
    let change =
        |value: &'static [&'static str]| [(ModifyOperation::Replace, "userPassword", value)];
    let own = world.user(JANE);
    assert_eq!(world.modify(&own, JANE, &change(&["new"])).code, Success);
    let stored = world.read(JANE, &["userPassword", "pwdHistory"]);
    assert!(stored.get("userPassword")[0].starts_with('{'), "{stored:?}");
    let history = stored.get("pwdHistory");
    assert!(
        history[0].contains("#{"),
        "the old password too: {history:?}"
    );
    let same = world.modify(&own, JANE, &change(&["new"]));
    assert_eq!(
        same.diagnostic,
        "Password is not being changed from existing value"
    );
    let old = world.modify(&own, JANE, &change(&["jane's"]));
    assert_eq!(old.diagnostic, "Password is in history of old passwords");
    // A deleted value in clear means the hashed one.
    let delete = [(ModifyOperation::Delete, "userPassword", &["new"][..])];
    assert_eq!(world.modify(&own, JANE, &delete).code, Success);
    assert_eq!(count(&world, "userPassword"), 0);
}

/// The attributes of a person, with passwords.
pub(crate) fn person<'a>(uid: &'a str, passwords: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let person = [
        ("objectClass", "inetOrgPerson"),
        ("uid", uid),
        ("cn", uid),
        ("sn", uid),
    ];
    let passwords = passwords.iter().map(|&password| ("userPassword", password));
    person.into_iter().chain(passwords).collect()
}

#[test]
fn a_new_password_is_judged_after_rights_and_place() {
    let rules = [("pwdCheckQuality", "1"), ("pwdMinLength", "5")];
    let world = world(&[], &rules);
    let new = format!("uid=new,{PEOPLE}");
    let refused = world.add(&world.user(JANE), &new, &person("new", &["abc"]));
    assert_eq!(refused.code, InsufficientAccessRights, "{refused:?}");
    let two = ["abcde", "abcdef"];
    let taken = world.add(&world.root(), JANE, &person("jane", &two));
    assert_eq!(taken.code, ResultCode::EntryAlreadyExists, "{taken:?}");
    let far = format!("uid=new,ou=missing,{TOP}");
    let missing = world.add(&world.root(), &far, &person("new", &two));
    assert_eq!(missing.code, ResultCode::NoSuchObject, "{missing:?}");
    let several = world.add(&world.root(), &new, &person("new", &two));
    assert_eq!(
        several.diagnostic,
        "Password policy only allows one password value"
    );
}

/// Everybody may add entries and set passwords, and nobody may manage them.
pub(crate) fn open_to_all(options: &mut DirectoryOptions) {
    let rules = ["to attrs=userPassword by * =xw", "to * by * write"];
    options.access = rules.map(|rule| RuleText::from(rule.to_owned())).into();
}

#[test]
fn a_password_of_a_name_is_neither_judged_nor_hashed() {
    let rules = [
        ("pwdCheckQuality", "2"),
        ("pwdMinLength", "5"),
        ("pwdMaxAge", "100"),
    ];
    let world = world_with(&["ppolicy_hash_cleartext"], &rules, open_to_all);
    let jane = world.user(JANE);
    // As in slapd, only the values of the request are passwords to judge.
    let named = format!("userPassword=abc,{PEOPLE}");
    assert_eq!(world.add(&jane, &named, &person("x", &[])).code, Success);
    let stored = world.read(&named, &["userPassword", "pwdChangedTime"]);
    assert_eq!(stored.get("userPassword"), ["abc"]);
    assert_eq!(stored.get("pwdChangedTime"), [""; 0]);
    // One of both is judged and hashed, and the name has it in clear.
    let both = format!("userPassword=abcdef,{PEOPLE}");
    let added = world.add(&jane, &both, &person("y", &["abcdef"]));
    assert_eq!(added, LdapResult::success());
    let stored = world.read(&both, &["userPassword", "pwdChangedTime"]);
    let [hashed, clear] = stored.get("userPassword")[..] else {
        unreachable!("two values")
    };
    assert!(hashed.starts_with('{'), "{hashed}");
    assert_eq!(clear, "abcdef");
    assert_eq!(stored.get("pwdChangedTime").len(), 1);
    let poor = format!("userPassword=abcd,{PEOPLE}");
    let refused = world.add(&jane, &poor, &person("z", &["abcd"]));
    assert_eq!(refused.diagnostic, "Password fails quality checking policy");
    let renamed = world.rename(&jane, JANE, "userPassword=ab", false, None);
    assert_eq!(renamed, LdapResult::success());
    let name = format!("userPassword=ab,{PEOPLE}");
    let stored = world.read(&name, &["userPassword", "pwdChangedTime", "pwdHistory"]);
    assert!(stored.get("userPassword").contains(&"ab"), "{stored:?}");
    assert_eq!(stored.names(), ["userPassword"]);
}

#[test]
fn the_overlay_configured_last_refuses_first() {
    let rules = [("pwdCheckQuality", "1"), ("pwdMinLength", "5")];
    let policy = overlay("ppolicy", &[&format!("ppolicy_default {POLICY}")]);
    let unique = overlay("unique", &["unique_uri ldap:///?cn?sub"]);
    let of_policy = "Password fails quality checking policy";
    let of_unique = "non-unique attributes found with (|(cn=John Roe))";
    for (overlays, expected) in [
        ([unique.clone(), policy.clone()], of_policy),
        ([policy, unique], of_unique),
    ] {
        let world = world_with(&[], &rules, |options| {
            options.databases[0].overlays = overlays.into();
            open_to_all(options);
        });
        let new = format!("uid=new,{PEOPLE}");
        let mut entry = person("new", &["abc"]);
        entry.retain(|value| *value != ("cn", "new"));
        entry.push(("cn", "John Roe"));
        let added = world.add(&world.user(JANE), &new, &entry);
        assert_eq!(added.diagnostic, expected);
        let changes = [
            (ModifyOperation::Replace, "cn", &["John Roe"][..]),
            (ModifyOperation::Replace, "userPassword", &["abc"][..]),
        ];
        let modified = world.modify(&world.user(JANE), JANE, &changes);
        assert_eq!(modified.diagnostic, expected);
        // The guards before the policy pass what the policy refuses, and the other way round.
        let changes = [(ModifyOperation::Replace, "userPassword", &["abc"][..])];
        let modified = world.modify(&world.user(JANE), JANE, &changes);
        assert_eq!(modified.diagnostic, of_policy);
        let changes = [
            (ModifyOperation::Replace, "title", &["boss"][..]),
            (ModifyOperation::Replace, "userPassword", &["abcdef"][..]),
        ];
        let modified = world.modify(&world.user(JANE), JANE, &changes);
        assert_eq!(modified, LdapResult::success());
    }
}

#[test]
fn a_database_that_waits_hinders_no_binds_to_another() {
    const ELSEWHERE: &str = "dc=elsewhere";
    let folder = tempfile::tempdir().expect("a folder");
    let rules = [("pwdLockout", "TRUE"), ("pwdMaxFailure", "5")];
    let world = world_with(&[], &rules, |options| {
        let of_store = StoreOptions {
            suffixes: vec![ELSEWHERE.to_owned()],
            ..StoreOptions::default()
        };
        let schema = Arc::clone(&options.schema);
        let store = Store::create(folder.path(), &of_store, schema).expect("a store");
        let mut second = DatabaseOptions::new(store);
        second.root.clone_from(&options.databases[0].root);
        second.overlays = vec![overlay(
            "ppolicy",
            &["ppolicy_default cn=policy,dc=elsewhere"],
        )];
        options.databases.push(second);
    });
    world.load(
        "dn: dc=elsewhere\nobjectClass: organization\nobjectClass: dcObject\n\
         objectClass: simpleSecurityObject\ndc: elsewhere\no: Elsewhere\nuserPassword: right\n\n\
         dn: cn=policy,dc=elsewhere\nobjectClass: device\nobjectClass: pwdPolicy\ncn: policy\n\
         pwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 5",
    );
    let writer = world.store.write().expect("nobody else writes");
    let (answers, answered) = std::sync::mpsc::channel();
    let world = &world;
    std::thread::scope(|scope| {
        let stalled = scope.spawn(|| jane(world, "wrong").0);
        std::thread::sleep(Duration::from_millis(300));
        scope.spawn(move || answers.send(bind(world, ELSEWHERE, "wrong").0));
        let answer = answered.recv_timeout(Duration::from_secs(10));
        assert!(!stalled.is_finished(), "it waits for the writer");
        drop(writer);
        assert_eq!(answer, Ok(InvalidCredentials));
        assert_eq!(stalled.join().expect("a bind"), InvalidCredentials);
    });
    for name in [JANE, ELSEWHERE] {
        let failures = world.read(name, &["pwdFailureTime"]);
        assert_eq!(failures.get("pwdFailureTime").len(), 1, "{name}");
    }
}

#[test]
fn guards_before_the_policy_see_the_new_passwords() {
    use ModifyOperation::{Add, Delete, Replace};
    let policy = overlay("ppolicy", &[&format!("ppolicy_default {POLICY}")]);
    let count = overlay("constraint", &["constraint_attribute userPassword~count~1"]);
    let set = "constraint_attribute userPassword~set~this/userPassword & [{SSHA}x]";
    let set = overlay("constraint", &[set]);
    let broken = "modify breaks constraint on userPassword";
    let modify = |world: &World, changes: &[(ModifyOperation, &str, &[&str])]| {
        world.modify(&world.root(), JANE, changes).diagnostic
    };
    let mut world = world_with(&[], &[], open_to_all);
    assert_eq!(
        modify(&world, &[(Replace, "userPassword", &["{SSHA}x"])]),
        ""
    );
    for overlays in [[policy.clone(), count.clone()], [count, policy.clone()]] {
        world.reopen(|options| options.databases[0].overlays = Vec::new());
        let two = ["{SSHA}x", "{SSHA}y"];
        assert_eq!(modify(&world, &[(Replace, "userPassword", &two)]), "");
        world.reopen(|options| options.databases[0].overlays = overlays.into());
        // One instead of two, a second one, and one for another.
        assert_eq!(
            modify(&world, &[(Replace, "userPassword", &["abcdef"])]),
            ""
        );
        assert_eq!(
            modify(&world, &[(Add, "userPassword", &["ghijkl"])]),
            broken
        );
        let exchange: [(_, _, &[&str]); 2] = [
            (Delete, "userPassword", &["abcdef"]),
            (Add, "userPassword", &["ghijkl"]),
        ];
        assert_eq!(modify(&world, &exchange), "");
        // A missing password is not deleted.
        assert_ne!(modify(&world, &exchange), "");
    }
    for overlays in [[policy.clone(), set.clone()], [set, policy]] {
        world.reopen(|options| options.databases[0].overlays = overlays.into());
        assert_eq!(
            modify(&world, &[(Replace, "userPassword", &["abcdef"])]),
            broken
        );
        assert_eq!(
            modify(&world, &[(Replace, "userPassword", &["{SSHA}x"])]),
            ""
        );
    }
}

#[test]
fn without_the_overlay_a_critical_control_is_unknown() {
    let world = World::new();
    let mut session = Session::new();
    let request = BindRequest::simple(JANE, b"jane's");
    let step = begin(&world, &mut session, &request, &[policy_control()]);
    let (code, _) = finish(&world, &mut session, step);
    assert_eq!(code, ResultCode::UnavailableCriticalExtension);
    let dse = asked("", Scope::Base, "(objectClass=*)", &["supportedControl"]);
    let found = world.search(&session, &dse);
    let listed = found.entries[0].get("supportedControl");
    assert!(!listed.contains(&oid::PASSWORD_POLICY));
}
