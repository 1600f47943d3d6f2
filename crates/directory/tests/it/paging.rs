use std::sync::Arc;

use fulgurite_directory::{Limit, Session, SizeLimits, SystemEntropy};
use fulgurite_ldap::{ResultCode, Scope};

use crate::support::{Asked, JANE, PEOPLE, SearchAnswer, TOP, World, asked, code};

fn page(base: &Asked, size: u32, cookie: &[u8]) -> Asked {
    Asked {
        page: Some((size, cookie.to_vec())),
        ..base.clone()
    }
}

fn all_pages(world: &World, session: &Session, asked: &Asked, size: u32) -> Vec<SearchAnswer> {
    let mut pages = Vec::new();
    let mut cookie = Vec::new();
    loop {
        let found = world.search(session, &page(asked, size, &cookie));
        assert_eq!(code(&found.result), ResultCode::Success);
        cookie = found.cookie.clone().expect("a paged answer");
        pages.push(found);
        if cookie.is_empty() {
            return pages;
        }
    }
}

#[test]
fn pages_of_every_size_add_up() {
    let world = World::new();
    let root = world.root();
    let everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let whole = world.search(&root, &everything);
    assert_eq!((whole.entries.len(), whole.cookie.clone()), (6, None));
    for size in 1..=7 {
        let pages = all_pages(&world, &root, &everything, size);
        let sizes: Vec<usize> = pages.iter().map(|page| page.entries.len()).collect();
        let full = 6 / size as usize;
        let mut expected = vec![size as usize; full];
        if 6 % size as usize > 0 {
            expected.push(6 % size as usize);
        }
        assert_eq!(sizes, expected, "no empty last page");
        let entries: Vec<_> = pages.into_iter().flat_map(|page| page.entries).collect();
        assert_eq!(entries, whole.entries);
    }
}

#[test]
fn several_paged_searches_interleave() {
    let world = World::new();
    let root = world.root();
    let people = asked(PEOPLE, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let first = world.search(&root, &page(&people, 1, b""));
    let other = world.search(&root, &page(&everything, 2, b""));
    let second = world.search(&root, &page(&people, 1, &first.cookie.unwrap()));
    let again = world.search(&root, &page(&everything, 9, &other.cookie.unwrap()));
    assert_eq!(second.dns(), [JANE]);
    assert_eq!(again.entries.len(), 4);
    // An old cookie still works: nothing is kept on the server.
    let cookie = second.cookie.unwrap();
    for _ in 0..2 {
        assert_eq!(
            world
                .search(&root, &page(&people, 5, &cookie))
                .entries
                .len(),
            1
        );
    }
}

#[test]
fn cookies_are_checked_and_paging_can_be_abandoned() {
    let world = World::new();
    let root = world.root();
    let people = asked(PEOPLE, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let first = world.search(&root, &page(&people, 1, b""));
    let cookie = first.cookie.unwrap();
    let other = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    for (search, cookie, expected) in [
        (&other, &cookie[..], ResultCode::UnwillingToPerform),
        (&people, &cookie[1..], ResultCode::ProtocolError),
        (&people, b"?", ResultCode::ProtocolError),
    ] {
        let refused = world.search(&root, &page(search, 1, cookie));
        assert_eq!(code(&refused.result), expected);
    }
    let ended = world.search(&root, &page(&people, 0, &cookie));
    assert_eq!(
        (code(&ended.result), ended.entries.len()),
        (ResultCode::Success, 0)
    );
    assert_eq!(ended.cookie, Some(Vec::new()));
}

#[test]
fn the_size_limit_counts_over_all_pages() {
    let world = World::with(|options| options.limits.size = SizeLimits::up_to(Limit::At(4)));
    let everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let anonymous = Session::new();
    let first = world.search(&anonymous, &page(&everything, 3, b""));
    assert_eq!(first.entries.len(), 3);
    let second = world.search(&anonymous, &page(&everything, 3, &first.cookie.unwrap()));
    assert_eq!(second.entries.len(), 1);
    assert_eq!(code(&second.result), ResultCode::SizeLimitExceeded);
    // Pages that the client's own limit would cut short anyhow are no pages; the server's limit
    // strikes in between.
    let own = Asked {
        size_limit: 4,
        ..everything.clone()
    };
    let unpaged = world.search(&anonymous, &page(&own, 4, b""));
    assert_eq!((unpaged.entries.len(), unpaged.cookie), (4, None));
    let paged = world.search(&anonymous, &page(&everything, 4, b""));
    assert_eq!(code(&paged.result), ResultCode::Success);
    assert_eq!(all_pages(&world, &world.root(), &everything, 3).len(), 2);
}

#[test]
fn paging_continues_while_entries_are_added_and_deleted() {
    let world = World::new();
    let root = world.root();
    let people = asked(PEOPLE, Scope::One, "(objectClass=person)", &["1.1"]);
    let first = world.search(&root, &page(&people, 1, b""));
    assert_eq!(first.dns(), [JANE]);
    assert!(world.delete(&root, JANE).is_success());
    let late = "uid=late,ou=people,dc=example,dc=com";
    let person = [("objectClass", "inetOrgPerson"), ("cn", "x"), ("sn", "x")];
    assert!(world.add(&root, late, &person).is_success());
    let rest = world.search(&root, &page(&people, 5, &first.cookie.unwrap()));
    assert_eq!(rest.dns(), [crate::support::JOHN, late]);
}

#[test]
fn paging_continues_after_a_restart_but_not_in_another_database() {
    let mut world = World::new();
    // The store's own key, as a server has it.
    world.reopen(|options| options.cookie_key = None);
    let root = world.root();
    let everything = asked(TOP, Scope::Subtree, "(objectClass=*)", &["1.1"]);
    let whole = world.search(&root, &everything);
    let first = world.search(&root, &page(&everything, 2, b""));
    let cookie = first.cookie.unwrap();
    world.reopen(|options| options.cookie_key = None);
    let rest = world.search(&root, &page(&everything, 9, &cookie));
    assert_eq!(rest.entries, whole.entries[2..]);

    let mut other = World::new();
    other.reopen(|options| {
        options.cookie_key = None;
        options.entropy = Arc::new(SystemEntropy);
    });
    let refused = other.search(&other.root(), &page(&everything, 9, &cookie));
    assert_eq!(code(&refused.result), ResultCode::ProtocolError);
}
