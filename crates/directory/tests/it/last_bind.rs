//! The time of the last successful bind: the setting `lastbind`, and the overlay.

use fulgurite_ldap::{Authentication, BindRequest, LdapResult, ModifyOperation, ResultCode};
use fulgurite_policy::Restrictions;

use crate::guards::overlay;
use crate::sasl::{people, protected};
use crate::support::{JANE, ROOT, World};

const TIMES: [&str; 2] = ["pwdLastSuccess", "authTimestamp"];

fn world(last_bind_s: Option<u32>, precision: Option<&str>) -> World {
    let mut world = World::new();
    world.reopen(|options| {
        let database = &mut options.databases[0];
        database.last_bind_s = last_bind_s;
        let line = precision.map(|seconds| format!("lastbind-precision {seconds}"));
        let overlays = line.map(|line| overlay("lastbind", &[&line]));
        database.overlays = overlays.into_iter().collect();
    });
    world
}

/// Binds. Returns true if the client waits for a record.
fn bind(world: &World, request: &BindRequest<'_>) -> bool {
    let before = times(world);
    let (result, mut session) = world.bind_request(request);
    let is_recorded = times(world) != before;
    let update = world.directory.bind_update(&mut session);
    assert!(!is_recorded || result.is_success());
    if let Some(update) = update {
        let reply = world.directory.apply(&[update]).remove(0);
        assert!(reply.bytes.is_empty(), "no client waits");
        assert_eq!(reply.result.code, ResultCode::NoOperation);
    }
    is_recorded
}

fn simple(world: &World, dn: &str, password: &str) -> bool {
    bind(world, &BindRequest::simple(dn, password.as_bytes()))
}

fn times(world: &World) -> [Option<String>; 2] {
    let read = world.read(JANE, &TIMES);
    TIMES.map(|name| read.get(name).first().map(|&time| time.to_owned()))
}

#[test]
fn a_bind_is_recorded_once_a_second_and_the_entry_does_not_change() {
    let world = world(Some(0), None);
    let stamps = ["modifiersName", "modifyTimestamp", "entryCSN"];
    let log = || {
        world
            .store
            .snapshot()
            .and_then(|view| Ok(view.changes()?.newest))
    };
    world.clock.sleep_s(2);
    let before = (world.read(JANE, &stamps), log().expect("a log"));
    assert!(!simple(&world, JANE, "wrong"));
    assert_eq!(times(&world), [None, None]);
    assert!(simple(&world, JANE, "jane's"));
    assert_eq!(times(&world), [Some("20260102030407Z".to_owned()), None]);
    assert!(!simple(&world, JANE, "jane's"));
    world.clock.sleep_s(1);
    assert!(simple(&world, JANE, "jane's"));
    assert_eq!(times(&world)[0].as_deref(), Some("20260102030408Z"));
    let after = (world.read(JANE, &stamps), log().expect("a log"));
    assert_eq!(after, before);
    assert_eq!(world.names("(pwdLastSuccess=20260102030408Z)"), [JANE]);
}

#[test]
fn the_overlay_has_its_own_attribute_and_precision() {
    let world = world(Some(1), Some("3"));
    let after = |seconds| {
        world.clock.sleep_s(seconds);
        let name = "UID=jane, ou=people,dc=example,dc=com";
        assert!(simple(&world, name, "jane's"));
        let [setting, overlay] = times(&world);
        (setting.expect("a time"), overlay.expect("a time"))
    };
    let text = |second: u32| format!("2026010203041{second}Z");
    assert_eq!(after(5), (text(0), text(0)));
    assert_eq!(after(2), (text(2), text(0)));
    assert_eq!(after(1), (text(3), text(3)));
}

#[test]
fn a_bind_by_sasl_is_recorded_for_the_authenticated_name() {
    let world = World::with(|options| {
        options.databases[0].last_bind_s = Some(0);
        people(options);
    });
    let plain = BindRequest {
        version: 3,
        name: b"",
        authentication: Authentication::Sasl {
            mechanism: b"PLAIN",
            credentials: Some(b"\0jane\0jane's"),
        },
    };
    let (result, mut session) = world.bind_on(protected(), &plain);
    assert_eq!(result.code, ResultCode::Success);
    assert!(times(&world)[0].is_some());
    assert!(world.directory.bind_update(&mut session).is_none());
}

#[test]
fn nothing_is_recorded_without_an_entry_or_a_right_to_write() {
    let world_on = world(Some(0), None);
    assert!(!bind(&world_on, &BindRequest::simple("", b"")));
    // The root has no entry.
    assert!(!simple(&world_on, ROOT, "secret"));
    let off = world(None, None);
    assert!(!simple(&off, JANE, "jane's"));
    let mut read_only = World::new();
    read_only.reopen(|options| {
        options.databases[0].last_bind_s = Some(0);
        options.databases[0].restrictions = Restrictions {
            read_only: true,
            ..Restrictions::default()
        };
    });
    assert!(!simple(&read_only, JANE, "jane's"));
}

#[test]
fn no_client_sets_the_times() {
    let world = world(Some(0), Some("0"));
    for name in TIMES {
        let change = [(ModifyOperation::Replace, name, &["20200101000000Z"][..])];
        let result: LdapResult = world.modify(&world.root(), JANE, &change);
        assert_eq!(result.code, ResultCode::ConstraintViolation, "{name}");
    }
    assert_eq!(world.names("(pwdLastSuccess=*)"), Vec::<String>::new());
}
