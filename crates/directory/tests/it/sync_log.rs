//! The provider of a log of changes: consumers that repeat operations.

use std::sync::Arc;

use fulgurite_directory::{AccessLogOptions, Progress, Quantum, SearchTask};
use fulgurite_ldap::control::{EntryState, SyncDone, SyncInfo, SyncMode, SyncRequest, SyncState};
use fulgurite_ldap::{Request, Response, ResponseMessage, Scope, oid};
use fulgurite_schema::{Builtin, SchemaBuilder};
use fulgurite_store::Retention;

use crate::guards::overlay;
use crate::support::*;
use crate::sync_consumer::{describe, rename};

const LOG: &str = "cn=log";

/// Returns the example with a log that consumers may follow from its first entry on.
fn world() -> World {
    let schema = SchemaBuilder::standard().builtin(Builtin::AccessLog);
    let schema = Arc::new(schema.build().expect("the built-in schema resolves"));
    let world = World::empty_with_schema(
        schema,
        |options| {
            options.server_id = 1;
            let lines = ["logdb cn=log", "logops writes", "logsuccess TRUE"];
            let log = overlay("accesslog", &lines);
            options.databases[0].overlays = vec![overlay("syncprov", &[]), log];
            options.access_logs = vec![AccessLogOptions {
                provides: true,
                ..AccessLogOptions::new(LOG)
            }];
        },
        |_| {},
    );
    world.load_example();
    world
}

/// A request of a consumer.
struct Following<'c> {
    cookie: &'c str,
    reload: bool,
    persists: bool,
}

impl<'c> Following<'c> {
    fn at(cookie: &'c str) -> Following<'c> {
        Following {
            cookie,
            reload: false,
            persists: true,
        }
    }

    fn begin<'d>(&self, world: &'d World) -> SearchTask<'d> {
        let request = SyncRequest {
            mode: match self.persists {
                true => SyncMode::RefreshAndPersist,
                false => SyncMode::RefreshOnly,
            },
            cookie: Some(self.cookie.as_bytes()),
            reload_hint: self.reload,
        };
        let filter = "(&(objectClass=auditWriteObject)(reqResult=0))";
        let attributes = ["reqDN", "reqType", "reqMod", "reqNewRDN", "entryCSN"];
        let mut search = asked(LOG, Scope::Subtree, filter, &attributes);
        search.controls = vec![(oid::SYNC_REQUEST, true, Some(request.encode()))];
        let pdu = search.pdu();
        let message = decode(&pdu);
        let Request::Search(request) = &message.request else {
            unreachable!()
        };
        let (directory, root) = (&world.directory, world.root());
        directory.begin_search(&root, message.id, request, &message.controls)
    }
}

/// The messages of a search as texts, and the newest cookie.
#[derive(Debug, Default)]
struct Heard {
    texts: Vec<String>,
    cookie: String,
    /// Number of records that came without a cookie.
    silent: usize,
}

impl Heard {
    fn cookie(&mut self, cookie: Option<&[u8]>) {
        if let Some(cookie) = cookie {
            self.cookie = String::from_utf8(cookie.to_vec()).unwrap();
        }
    }

    fn message(&mut self, message: &ResponseMessage<'_>) {
        match &message.response {
            Response::SearchEntry(entry) => {
                let control = message.controls.find(oid::SYNC_STATE).expect("a state");
                let state = SyncState::decode(control.value.unwrap()).unwrap();
                assert_eq!(state.state, EntryState::Add);
                let text = |name: &str| {
                    let mut held = entry.attributes.iter();
                    let held = held.find(|held| held.description == name.as_bytes());
                    let value = held.and_then(|held| held.values.first());
                    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
                };
                match state.cookie {
                    None => self.silent += 1,
                    Some(cookie) => assert_eq!(
                        String::from_utf8_lossy(cookie),
                        format!("rid=007,sid=001,csn={}", text("entryCSN"))
                    ),
                }
                self.cookie(state.cookie);
                self.texts
                    .push(format!("{} {}", text("reqType"), text("reqDN")));
            }
            Response::Intermediate { value, .. } => {
                match SyncInfo::decode(value.unwrap()).unwrap() {
                    SyncInfo::NewCookie(cookie) => {
                        self.texts.push("newcookie".to_owned());
                        self.cookie(Some(cookie));
                    }
                    SyncInfo::RefreshDelete(end) => {
                        self.texts.push("end".to_owned());
                        self.cookie(end.cookie);
                    }
                    other => panic!("{other:?}"),
                }
            }
            Response::SearchDone(result) => {
                let done = message.controls.find(oid::SYNC_DONE);
                let done = done.map(|done| SyncDone::decode(done.value.unwrap()).unwrap());
                let deletes = done.map(|done| done.refresh_deletes);
                self.texts.push(format!("{:?} {deletes:?}", result.code));
                self.cookie(done.and_then(|done| done.cookie));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn run(task: &mut SearchTask<'_>) -> (Heard, Progress) {
    let (mut out, mut heard) = (Vec::new(), Heard::default());
    let small = Quantum {
        candidates_max: 3,
        bytes_max: 200,
    };
    let mut progress = Progress::More;
    while progress == Progress::More {
        progress = task.advance(&mut out, small);
    }
    let mut rest = out.as_slice();
    while !rest.is_empty() {
        let len = fulgurite_ldap::frame(rest, usize::MAX).unwrap().unwrap();
        heard.message(&ResponseMessage::decode(&rest[..len]).unwrap());
        rest = &rest[len..];
    }
    (heard, progress)
}

/// Returns the cookie of the newest state.
fn newest(world: &World) -> String {
    let top = world.read(TOP, &["contextCSN"]);
    format!("rid=007,csn={}", top.get("contextCSN").concat())
}

#[test]
fn a_consumer_gets_each_operation_once_and_in_order() {
    let world = world();
    let cookie = newest(&world);
    describe(&world, JANE, "one");
    describe(&world, JANE, "two");
    let mut task = Following::at(&cookie).begin(&world);
    let (heard, progress) = run(&mut task);
    assert_eq!(heard.silent, 0);
    assert_eq!(progress, Progress::Waiting);
    let modify = format!("modify {JANE}");
    assert_eq!(heard.texts, [&modify, &modify, "end"]);
    rename(&world, JANE, "uid=jo", None);
    world.delete(&world.root(), "uid=jo,ou=people,dc=example,dc=com");
    let (heard, _) = run(&mut task);
    let delete = "delete uid=jo,ou=people,dc=example,dc=com";
    assert_eq!(heard.texts, [&format!("modrdn {JANE}"), delete]);
    drop(task);
    // A consumer that is there again gets what came after.
    world.delete(&world.root(), JOHN);
    let (heard, _) = run(&mut Following::at(&heard.cookie).begin(&world));
    assert_eq!(heard.texts, [&format!("delete {JOHN}"), "end"]);
    let polled = Following {
        persists: false,
        ..Following::at(&heard.cookie)
    };
    let (heard, progress) = run(&mut polled.begin(&world));
    assert_eq!(progress, Progress::Done);
    assert_eq!(heard.texts, ["Success Some(true)"]);
}

#[test]
fn a_consumer_does_not_get_its_own_operations_back() {
    let world = world();
    let numbers = newest(&world).replace("rid=007,", "rid=007,sid=001,");
    let mut task = Following::at(&numbers).begin(&world);
    assert_eq!(run(&mut task).0.texts, ["end"]);
    describe(&world, JANE, "one");
    let (heard, _) = run(&mut task);
    assert_eq!(heard.texts, ["newcookie"]);
    assert_eq!(newest(&world), heard.cookie.replace("sid=001,", ""));
}

#[test]
fn a_log_that_does_not_reach_back_asks_for_a_refresh() {
    let world = world();
    let cookie = newest(&world);
    let mut task = Following::at(&cookie).begin(&world);
    run(&mut task);
    world.store.keep_changes(Retention {
        bytes_max: 0,
        ..Retention::default()
    });
    for round in 0..10 {
        describe(&world, JANE, &round.to_string());
    }
    let stale = "ESyncRefreshRequired None";
    assert_eq!(run(&mut task).0.texts, [stale], "behind");
    assert_eq!(
        run(&mut Following::at(&cookie).begin(&world)).0.texts,
        [stale]
    );
    assert_eq!(
        run(&mut Following::at("rid=007").begin(&world)).0.texts,
        [stale]
    );
    let reload = Following {
        reload: true,
        persists: false,
        ..Following::at(&cookie)
    };
    let (heard, _) = run(&mut reload.begin(&world));
    assert_eq!(heard.texts.last().unwrap(), "Success Some(false)");
    // A consumer that loses the connection must not know a state without the records before.
    assert_eq!(heard.silent, heard.texts.len() - 1, "{heard:?}");
    let known = newest(&world).replace("rid=007,", "rid=007,sid=001,");
    assert_eq!(heard.cookie, known);
}

#[test]
fn a_consumer_that_knows_more_is_refused() {
    let world = world();
    let newer = "rid=007,csn=20990101000000.000000Z#000000#001#000000";
    let (heard, _) = run(&mut Following::at(newer).begin(&world));
    assert_eq!(heard.texts, ["UnwillingToPerform None"]);
}
