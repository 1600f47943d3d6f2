//! Indexes that come and go during changes, with interruptions. The whole check decides.

use crate::testing::*;
use crate::{IndexProgress, IndexSpec, Scope, Store, StoreOptions};
use fulgurite_schema::{Assertion, AttributeSelector, Dn, Filter};

fn specs(texts: &[&str]) -> Vec<IndexSpec> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Makes a store with a suffix, a unit and some persons below it.
fn filled(persons: usize) -> TestStore {
    let made = create();
    let mut writer = made.write().unwrap();
    add(&mut writer, &suffix_entry(&schema()));
    for number in 0..persons {
        add(&mut writer, &numbered(number));
    }
    writer.commit().unwrap();
    made
}

fn numbered(number: usize) -> fulgurite_schema::CheckedEntry {
    let mail = format!("person{number}@example.com");
    let name = format!("uid=p{number},{SUFFIX}");
    person(&schema(), &name, &[("mail", &mail)])
}

/// A search: for an attribute's value, a piece of one, or an object class.
#[derive(Clone, Copy)]
enum Ask<'a> {
    Mail(&'a str),
    MailWith(&'a str),
    Class(&'a str),
}

fn filter(ask: Ask<'_>) -> Filter<AttributeSelector> {
    let schema = schema();
    let mail = schema.describe(b"mail").unwrap();
    let of = schema.attribute_at(mail.attribute);
    match ask {
        Ask::Mail(value) => {
            let rule = of.equality.unwrap();
            let normal = rule
                .normalise_assertion(&*schema, value.as_bytes())
                .unwrap();
            Filter::Equality(Assertion {
                attribute: mail,
                rule,
                normal: normal.into(),
            })
        }
        Ask::MailWith(piece) => {
            let rule = of.substring.unwrap();
            let pieces = rule.substring_assertion(None, std::iter::once(piece.as_bytes()), None);
            Filter::Substrings {
                attribute: mail,
                rule,
                pieces: pieces.unwrap().into(),
            }
        }
        Ask::Class(name) => Filter::ObjectClass {
            attribute: schema.describe(b"objectClass").unwrap(),
            class: schema.object_class(name).unwrap().index,
            implied_by: Vec::new(),
        },
    }
}

/// Returns the number of entries that a search reads. Without an index these are all entries.
fn candidates(store: &Store, ask: Ask<'_>) -> usize {
    let view = store.snapshot().unwrap();
    let base = find(&view, SUFFIX).entry().unwrap();
    let mut candidates = view.plan(base, Scope::Subtree, &filter(ask)).unwrap();
    let mut count = 0;
    while candidates.next(&view).unwrap().is_some() {
        count += 1;
    }
    count
}

fn finish(store: &Store) -> usize {
    let mut steps = 1;
    while store.index_step(7).unwrap() == IndexProgress::More {
        steps += 1;
        assert!(steps < 10_000, "the work does not end");
    }
    steps
}

#[test]
fn an_index_is_used_when_it_is_complete_and_not_before() {
    let made = filled(40);
    let mail = Ask::Mail("person7@example.com");
    assert_eq!(candidates(&made, mail), 41);
    assert!(made.add_indexes(&specs(&["mail:eq,sub"])).unwrap());
    assert!(
        !made.add_indexes(&specs(&["mail:eq,sub"])).unwrap(),
        "it is asked for already"
    );
    let mut steps = 0;
    while made.index_step(5).unwrap() == IndexProgress::More {
        assert_eq!(candidates(&made, mail), 41, "half an index was used");
        assert_clean(&made);
        steps += 1;
    }
    assert!(steps > 8, "{steps} steps");
    assert_clean(&made);
    assert_eq!(candidates(&made, mail), 1);
    assert_eq!(candidates(&made, Ask::MailWith("n17@")), 1);
    let status = made.index_status().unwrap();
    assert_eq!(status.work, []);
    assert!(
        status
            .complete
            .iter()
            .any(|spec| spec.to_string() == "mail:eq,sub")
    );
    assert!(made.remove_indexes(&["mail".to_owned()]).unwrap());
    assert_eq!(
        candidates(&made, mail),
        41,
        "an index that was given up was used"
    );
    finish(&made);
    assert_clean(&made);
    assert!(
        !made
            .index_status()
            .unwrap()
            .complete
            .iter()
            .any(|spec| spec.attribute == "mail")
    );
}

#[test]
fn a_snapshot_keeps_the_indexes_it_began_with() {
    let made = filled(20);
    let before = made.snapshot().unwrap();
    let attribute = schema().attribute("mail").unwrap().index;
    made.add_indexes(&specs(&["mail:eq"])).unwrap();
    finish(&made);
    assert!(before.indexes.of(attribute).is_none());
    let mut refreshed = before;
    refreshed.refresh().unwrap();
    assert!(refreshed.indexes.of(attribute).is_some());
    let parked = refreshed.park();
    made.remove_indexes(&["mail".to_owned()]).unwrap();
    assert!(parked.resume().unwrap().indexes.of(attribute).is_none());
}

#[test]
fn work_continues_after_an_interruption_and_during_changes() {
    let TestStore { mut store, dir } = filled(30);
    store
        .add_indexes(&specs(&["mail:eq,pres", "givenName:sub"]))
        .unwrap();
    let reopen = StoreOptions {
        rdn_hash_bits_ignored: !0xf,
        ..options()
    };
    let mut round = 0;
    while store.index_step(3).unwrap() == IndexProgress::More {
        // Change entries before and behind the progress of the work.
        let mut writer = store.write().unwrap();
        add(&mut writer, &numbered(100 + round));
        let gone = find(&writer, &format!("uid=p{},{SUFFIX}", (round * 7) % 30)).entry();
        if let Some(gone) = gone {
            writer.delete(gone).unwrap();
        }
        let changed = format!("uid=p{},{SUFFIX}", (round * 11) % 30);
        if let Some(id) = find(&writer, &changed).entry() {
            let more = [("mail", "new@example.com"), ("givenName", "Anna")];
            writer
                .modify(id, &person(&schema(), &changed, &more))
                .unwrap();
        }
        writer.commit().unwrap();
        // For the store this is the end of the process.
        drop(store);
        store = Store::open(dir.path(), &reopen, schema()).unwrap();
        assert_clean(&store);
        round += 1;
        if round > 40 {
            finish(&store);
        }
    }
    assert_clean(&store);
    assert!(round > 10);
    assert!(store.index_status().unwrap().work.is_empty());
    let newest = format!("person{}@example.com", 100 + round - 1);
    assert_eq!(candidates(&store, Ask::Mail(&newest)), 1);
    let unknown = Dn::parse(&schema(), "uid=p100,dc=example,dc=com").unwrap();
    assert!(
        store
            .snapshot()
            .unwrap()
            .find(&unknown)
            .unwrap()
            .entry()
            .is_some()
    );
}

#[test]
fn requests_can_change_while_the_work_is_under_way() {
    let made = filled(25);
    made.add_indexes(&specs(&["mail:eq"])).unwrap();
    made.index_step(5).unwrap();
    made.index_step(5).unwrap();
    made.remove_indexes(&["mail".to_owned()]).unwrap();
    made.index_step(1).unwrap();
    assert_clean(&made);
    made.request_indexes(&specs(&["mail:eq", "objectClass:eq"]))
        .unwrap();
    finish(&made);
    assert_clean(&made);
    assert_eq!(
        made.index_status().unwrap().complete,
        specs(&["objectClass:eq", "mail:eq"])
    );
    assert_eq!(candidates(&made, Ask::Mail("person3@example.com")), 1);
    assert!(made.rebuild_indexes(None).unwrap());
    assert_eq!(candidates(&made, Ask::Mail("person3@example.com")), 26);
    assert_eq!(candidates(&made, Ask::Class("domain")), 26);
    finish(&made);
    assert_clean(&made);
    assert_eq!(candidates(&made, Ask::Class("domain")), 1);
}
