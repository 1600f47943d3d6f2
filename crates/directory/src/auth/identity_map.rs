//! The map from names of clients to names of entries, and the identities that a client may act for.

use std::sync::Arc;

use fulgurite_access::Rights;
use fulgurite_auth::{AuthzId, AuthzPolicy, sasl_dn};
use fulgurite_ldap::{self as ldap, LdapResult, LdapUrl, ResultCode};
use fulgurite_schema::{Dn, Entry, EntrySubject, Filter};
use fulgurite_store::Scope as StoreScope;
use thiserror::Error;

use super::state::Authenticator;
use crate::core::authz_rules::{self, Rule};
use crate::core::result::refuse;
use crate::core::session::{Identity, Name, Session};
use crate::generated::namespace::NamespaceTarget;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::visible_entry::VisibleEntry;

/// The reason why an identity has no name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnknownIdentity {
    /// It has no form of an authorization identity.
    #[error("{0:?} is neither dn:<name> nor u:<user>")]
    Form(String),
    /// It is not a DN.
    #[error("{0:?} is not a valid DN")]
    Dn(String),
    /// A rule gave a URL that cannot be searched.
    #[error("authz-regexp gives {url:?}, which cannot be searched: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A rule gave a URL that does not lead to exactly one entry.
    #[error("authz-regexp gives {url:?}, which leads to {} entry", if *.several { "more than one" } else { "no" })]
    NotOne {
        /// The URL.
        url: String,
        /// True if there are several entries, false if there is none.
        several: bool,
    },
}

impl Authenticator<'_> {
    /// Maps SASL's `user`: `uid=<user>,cn=<realm>,cn=<mechanism>,cn=auth`, taken through
    /// `authz-regexp`.
    ///
    /// The default realm is that of the settings. `asker` is the session whose right to `auth`
    /// decides which entries are found. At a bind it is anonymous, for a proxied authorization it
    /// is the client.
    ///
    /// # Errors
    /// [`UnknownIdentity`] if a rule matches and finds no entry.
    pub(crate) fn sasl_identity(
        &self,
        asker: &Session,
        user: &str,
        realm: Option<&str>,
        mechanism: Option<&str>,
    ) -> Result<Dn, UnknownIdentity> {
        let realm = realm.or(self.auth.options.sasl_realm.as_deref());
        self.mapped(asker, &sasl_dn(user, realm, mechanism))
    }

    /// Maps a name by `authz-regexp`. The first rule that matches decides; without one the name
    /// stays as it is. The result is in normal form for people, as in slapd.
    ///
    /// A rule may give a URL to search. The search needs `auth` for the base and the attributes of
    /// the filter, as in slapd.
    ///
    /// # Errors
    /// [`UnknownIdentity`].
    pub(crate) fn mapped(&self, asker: &Session, name: &str) -> Result<Dn, UnknownIdentity> {
        let parse = |text: &str| {
            Dn::parse(&self.core.schema, text).map_err(|_| UnknownIdentity::Dn(text.to_owned()))
        };
        let dn = parse(name)?;
        let rules = &self.auth.options.authz_regexp;
        let mapped = match rules.iter().find_map(|rule| rule.apply(dn.pretty())) {
            None => dn,
            Some(url) if is_url(&url) => self.only_entry(asker, &url)?,
            Some(replaced) => parse(replaced.strip_prefix("dn:").unwrap_or(&replaced))?,
        };
        parse(&mapped.normal_text(&self.core.schema))
    }

    /// Returns the name of an authorization identity.
    ///
    /// # Errors
    /// [`UnknownIdentity`].
    pub(crate) fn authorization_identity(
        &self,
        asker: &Session,
        id: &AuthzId,
        mechanism: Option<&str>,
    ) -> Result<Dn, UnknownIdentity> {
        match id {
            AuthzId::Anonymous => Ok(Dn::root()),
            AuthzId::Dn(name) => self.mapped(asker, name),
            AuthzId::User {
                name,
                mechanism: own,
                realm,
            } => self.sasl_identity(asker, name, realm.as_deref(), own.as_deref().or(mechanism)),
        }
    }

    /// Returns true if `authentication` may act for `authorization` (`authz-policy`, `authzTo`,
    /// `authzFrom`).
    ///
    /// Every identity may act for itself and for anonymous, and the root of a database for names in
    /// it. `asker` is an unauthenticated session, whose right to `auth` counts.
    #[must_use]
    pub(crate) fn may_act_for(
        &self,
        asker: &Session,
        authentication: &Dn,
        authorization: &Dn,
    ) -> bool {
        if authorization.is_root() || authentication == authorization {
            return true;
        }
        if authentication.is_root() {
            return false;
        }
        let name = Name::from(authentication);
        if let NamespaceTarget::Database(database) = self.target(authorization)
            && database.root.as_ref().is_some_and(|root| root.name == name)
        {
            return true;
        }
        let to = || self.any_rule(asker, "authzTo", authentication, authorization);
        let from = || self.any_rule(asker, "authzFrom", authorization, authentication);
        match self.auth.options.authz_policy {
            AuthzPolicy::None => false,
            AuthzPolicy::To => to(),
            AuthzPolicy::From => from(),
            AuthzPolicy::Any => to() || from(),
            AuthzPolicy::All => to() && from(),
        }
    }

    /// Returns the session for the identity of the proxied authorization control (RFC 4370).
    ///
    /// # Errors
    /// authorizationDenied (123), with slapd's texts.
    pub(crate) fn authorize(
        &self,
        session: &Session,
        authzid: &[u8],
    ) -> Result<Session, LdapResult> {
        let denied = |text: &str| refuse(ResultCode::AuthorizationDenied, text);
        let Some(requester) = session.real_identity().name() else {
            if self.policy.allow.proxy_authz_anon {
                return Ok(session.acting_for(Identity::Anonymous));
            }
            return Err(denied("anonymous proxied authorization not allowed"));
        };
        let failed = || denied("authzId mapping failed");
        let text = std::str::from_utf8(authzid).map_err(|_| failed())?;
        let id = AuthzId::parse(text).ok_or_else(failed)?;
        if matches!(
            &id,
            AuthzId::User {
                mechanism: Some(_),
                ..
            }
        ) {
            return Err(failed());
        }
        let target = self
            .authorization_identity(session, &id, None)
            .map_err(|_| failed())?;
        let requester = Dn::parse(&self.core.schema, requester.pretty()).map_err(|_| failed())?;
        let asker = Session::on(Arc::clone(session.connection()));
        if !self.may_act_for(&asker, &requester, &target) {
            return Err(denied("not authorized to assume identity"));
        }
        Ok(session.acting_for(identity_of(&target)))
    }

    /// Returns true if a rule that `keeper`'s entry has in `attribute` matches `about`.
    fn any_rule(&self, asker: &Session, attribute: &str, keeper: &Dn, about: &Dn) -> bool {
        let Some(attribute) = self.core.schema.attribute(attribute) else {
            return false;
        };
        let description = fulgurite_schema::AttributeDescription::plain(attribute.index);
        let values = self
            .values_for_auth(asker, keeper, &description)
            .unwrap_or_default();
        let texts = values
            .iter()
            .filter_map(|value| std::str::from_utf8(value).ok());
        let mut rules = texts.filter_map(|text| authz_rules::parse(&self.core.schema, text));
        rules.any(|rule| self.speaks_of(asker, &rule, about))
    }

    fn speaks_of(&self, asker: &Session, rule: &Rule, about: &Dn) -> bool {
        match rule {
            Rule::Everybody => true,
            Rule::Dn { style, dn } => style.fits(dn, about),
            Rule::Regex(regex) => regex.is_match(about.normal()) || regex.is_match(about.pretty()),
            Rule::User(id) => [None, Some("simple")].into_iter().any(|mechanism| {
                self.authorization_identity(asker, id, mechanism)
                    .is_ok_and(|dn| dn == *about)
            }),
            Rule::Group { dn, class, member } => self.entry(dn).is_some_and(|group| {
                let values = group.values(member.attribute).iter();
                let mut values = values.filter_map(|value| std::str::from_utf8(value).ok());
                self.fits(&group, &format!("(objectClass={class})"))
                    && values.any(|value| {
                        Dn::parse(&self.core.schema, value).is_ok_and(|dn| dn == *about)
                    })
            }),
            Rule::Url(url) => self.url_covers(url, about),
        }
    }

    /// Returns true if an entry is in the URL's scope and matches its filter.
    fn url_covers(&self, url: &LdapUrl, about: &Dn) -> bool {
        let Ok(base) = Dn::parse(&self.core.schema, &url.dn) else {
            return false;
        };
        let within = match url.scope.unwrap_or(ldap::Scope::Base) {
            ldap::Scope::Base => *about == base,
            ldap::Scope::One => about.parent().is_some_and(|parent| parent == base),
            ldap::Scope::Subtree => about.is_within(&base),
            ldap::Scope::Children => about.is_under(&base),
        };
        let filter = url.filter.as_deref().unwrap_or("(objectClass=*)");
        within
            && (url.filter.is_some() || url.scope.is_none_or(|scope| scope == ldap::Scope::Base))
            && self
                .entry(about)
                .is_some_and(|entry| self.fits(&entry, filter))
    }

    fn fits(&self, entry: &Entry, filter: &str) -> bool {
        let Ok(parsed) = ldap::FilterBuf::parse(filter) else {
            return false;
        };
        let filter = Filter::resolve(&self.core.schema, &parsed.filter());
        let schema = &self.core.schema;
        filter
            .test(schema, &EntrySubject { schema, entry })
            .is_true()
    }

    fn entry(&self, dn: &Dn) -> Option<Entry> {
        let NamespaceTarget::Database(database) = self.target(dn) else {
            return None;
        };
        let view = database.store.snapshot().ok()?;
        let id = view.find(dn).ok()?.entry()?;
        view.entry(id).ok()??.to_entry().ok()
    }

    /// Returns the only entry that a URL finds.
    fn only_entry(&self, asker: &Session, text: &str) -> Result<Dn, UnknownIdentity> {
        let wrong = |reason: &dyn std::fmt::Display| UnknownIdentity::Url {
            url: text.to_owned(),
            reason: reason.to_string(),
        };
        let url = LdapUrl::parse(text).map_err(|error| wrong(&error))?;
        if url.host.is_some() {
            return Err(wrong(&"it names another server"));
        }
        let base = Dn::parse(&self.core.schema, &url.dn).map_err(|error| wrong(&error))?;
        let filter = url.filter.as_deref().unwrap_or("(objectClass=*)");
        let parsed = ldap::FilterBuf::parse(filter).map_err(|error| wrong(&error))?;
        let filter = Filter::resolve(&self.core.schema, &parsed.filter());
        let scope = url.scope.unwrap_or(ldap::Scope::Base);
        let found = self
            .first_two(asker, &base, scope, &filter)
            .map_err(|error| wrong(&error))?;
        match found.as_slice() {
            [dn] => Ok(dn.clone()),
            found => Err(UnknownIdentity::NotOne {
                url: text.to_owned(),
                several: !found.is_empty(),
            }),
        }
    }

    fn first_two(
        &self,
        asker: &Session,
        base: &Dn,
        scope: ldap::Scope,
        filter: &Filter<fulgurite_schema::AttributeSelector>,
    ) -> Result<Vec<Dn>, fulgurite_store::StoreError> {
        let mut found = Vec::new();
        let NamespaceTarget::Database(database) = self.target(base) else {
            return Ok(found);
        };
        let view = database.store.snapshot()?;
        let Some(id) = view.find(base)?.entry() else {
            return Ok(found);
        };
        let decisions = database.decisions(asker);
        let facts = EntryFacts::of(self.core, &view, id)?;
        let rights = facts.rights(&decisions, base.normal());
        if !rights.entry().allows(Rights::AUTH) {
            return Ok(found);
        }
        let scope = match scope {
            ldap::Scope::Base => StoreScope::Base,
            ldap::Scope::One => StoreScope::OneLevel,
            ldap::Scope::Subtree => StoreScope::Subtree,
            ldap::Scope::Children => StoreScope::Subordinates,
        };
        let schema = &self.core.schema;
        let mut candidates = view.plan(id, scope, filter)?;
        while found.len() < 2
            && let Some(candidate) = candidates.next_entry(&view)?
        {
            let entry = &candidate.to_entry()?;
            let facts = EntryFacts::new(self.core, &view, EntrySource::Stored(candidate));
            let seen = VisibleEntry {
                schema,
                entry,
                rights: facts.rights(&decisions, entry.dn.normal()),
                needed: Rights::AUTH,
            };
            if filter.test(schema, &seen).is_true() {
                found.push(entry.dn.clone());
            }
        }
        Ok(found)
    }
}

pub(super) fn identity_of(dn: &Dn) -> Identity {
    if dn.is_root() {
        Identity::Anonymous
    } else {
        Identity::User(Name::from(dn))
    }
}

fn is_url(text: &str) -> bool {
    text.get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("ldap:///"))
        || text.contains("://")
}
