//! A search among entries that the server makes up: few enough to be looked at one after the other, at once.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, MessageId, ResultCode, Scope};
use fulgurite_schema::{AttributeSelector, Dn, Entry, Filter};

use super::begin::require_search;
use super::output::End;
use super::sorted_entries::Arranged;
use super::task::State;
use crate::core::limits::SearchLimits;
use crate::core::result::Answer;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::tree::Tree;
use crate::rights::facts::OwnFacts;
use crate::rights::projection::Shown;
use crate::rights::visible_entry::SeenOwned;

impl Directory {
    #[allow(clippy::too_many_arguments, reason = "the parts of one request")]
    pub(super) fn search_tree(
        &self,
        session: &Session,
        tree: &Tree,
        id: MessageId,
        (base, scope): (&Dn, Scope),
        filter: &Filter<AttributeSelector>,
        shown: &Shown,
        limits: SearchLimits,
        mut arranged: Option<Arranged>,
    ) -> Answer<State<'_>> {
        let schema = &self.schema;
        let decisions = tree.decisions(session);
        let mut entries = tree.entries(schema, base);
        let all = entries.iter().map(|made| &made.entry);
        let at_base = all.clone().find(|entry| entry.dn == *base);
        if at_base.is_none() {
            let above = all.filter(|entry| base.is_under(&entry.dn));
            let deepest = above.max_by_key(|entry| entry.dn.depth());
            let shown = deepest.filter(|entry| self.may_disclose(&decisions, entry));
            let missing = LdapResult::new(ResultCode::NoSuchObject);
            return Err(match shown {
                Some(entry) => missing.matched(entry.dn.pretty()),
                None => missing,
            });
        }
        let at_base = OwnFacts {
            directory: self,
            entry: at_base,
        };
        require_search(&decisions.at(base.normal(), &at_base))?;
        let mut out = Vec::new();
        let mut sent = 0;
        for made in entries
            .iter_mut()
            .filter(|made| in_scope(&made.entry.dn, base, scope))
        {
            made.count_sent(sent, out.len());
            let entry = &made.entry;
            let facts = OwnFacts {
                directory: self,
                entry: Some(entry),
            };
            let rights = decisions.at(entry.dn.normal(), &facts);
            let seen = SeenOwned {
                schema,
                entry,
                rights,
                needed: Rights::SEARCH,
            };
            if !rights.entry().allows(Rights::READ) || !filter.test(schema, &seen).is_true() {
                continue;
            }
            if let Some(arranged) = &mut arranged {
                let mut encoded = Vec::new();
                shown.write_owned(&mut encoded, id, entry, schema, rights);
                arranged.push(schema, entry, rights, encoded);
                continue;
            }
            if limits.size_max.is_some_and(|max| sent >= max) {
                let end = End::plain(LdapResult::new(ResultCode::SizeLimitExceeded));
                return Ok(State::Ready(out, sent, end));
            }
            shown.write_owned(&mut out, id, entry, schema, rights);
            sent += 1;
        }
        Ok(match arranged {
            Some(arranged) => arranged.finish(limits.size_max),
            None => State::Ready(out, sent, End::plain(LdapResult::success())),
        })
    }
}

impl Directory {
    fn may_disclose(&self, decisions: &Decisions<'_>, entry: &Entry) -> bool {
        let facts = OwnFacts {
            directory: self,
            entry: Some(entry),
        };
        let rights = decisions.at(entry.dn.normal(), &facts).entry();
        rights.allows(Rights::DISCLOSE)
    }
}

fn in_scope(dn: &Dn, base: &Dn, scope: Scope) -> bool {
    match scope {
        Scope::Base => dn == base,
        Scope::One => dn.is_under(base) && dn.depth() == base.depth() + 1,
        Scope::Subtree => dn.is_within(base),
        Scope::Children => dn.is_under(base),
    }
}
