//! Dynamic lists: entries with URLs, which show values of the entries that these find.
//!
//! ```text
//!   dynamic group   memberURL: ldap:///ou=p,dc=x??sub?(sn=b)       ->  member: uid=b,ou=p,dc=x
//!   dynamic list    memberURL: ldap:///ou=p,dc=x?mail?sub?(sn=b)   ->  mail: b@x.org
//! ```
//!
//! The feature `dynlist` compiles the sets. `rights::list_entry` and `rights::expansion` use them.

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope as UrlScope};
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Dn, Filter, Schema,
};
use fulgurite_store::{EntryView, Scope};

/// The dynamic lists of a database.
#[derive(Debug)]
pub(crate) struct DynamicLists {
    pub(crate) sets: Vec<ListSet>,
    /// The attribute that names the identity whose rights count (`dgIdentity`).
    pub(crate) identity: Option<AttributeDescription>,
    /// The attribute with rules about who may use that identity (`dgAuthz`).
    pub(crate) authorized: Option<AttributeDescription>,
}

/// Lists of one class, as one directive defines them.
#[derive(Debug)]
pub(crate) struct ListSet {
    /// Matches lists.
    pub(crate) class: Filter<AttributeSelector>,
    /// The attribute with URLs.
    pub(crate) url: AttributeDescription,
    pub(crate) values: ListValues,
}

/// The values that a list shows.
#[derive(Debug)]
pub(crate) enum ListValues {
    /// The names of the entries found, in each of these attributes.
    Names(Vec<AttributeDescription>),
    /// Attributes of the entries found: the second of a pair is shown as the first. All others are
    /// shown as they are.
    Attributes(Vec<(AttributeIndex, AttributeIndex)>),
}

/// A URL of a list.
#[derive(Debug)]
pub(crate) struct ListUrl {
    pub(crate) base: Dn,
    pub(crate) scope: Scope,
    pub(crate) filter: Filter<AttributeSelector>,
    /// The attributes that it lists, as written.
    pub(crate) attributes: Vec<String>,
}

impl DynamicLists {
    /// Returns true if an entry is a list. As in slapd, other lists show no attributes of it.
    pub(crate) fn is_list(&self, schema: &Schema, entry: &EntryView<'_>) -> bool {
        self.sets.iter().any(|set| set.is_list(schema, entry))
    }
}

impl ListSet {
    /// Returns true if an entry is a list.
    pub(crate) fn is_list(&self, schema: &Schema, entry: &EntryView<'_>) -> bool {
        self.class.test(schema, entry).is_true()
    }

    /// Returns true if the attribute shows the names of the entries found.
    pub(crate) fn shows_names_in(&self, attribute: AttributeIndex) -> bool {
        match &self.values {
            ListValues::Names(shown) => shown.iter().any(|one| one.attribute == attribute),
            ListValues::Attributes(_) => false,
        }
    }

    /// Returns the attribute of the entries found that filters about an attribute mean. Without
    /// pairs, each attribute means itself.
    pub(crate) fn source_of(&self, attribute: AttributeIndex) -> Option<AttributeIndex> {
        match &self.values {
            ListValues::Names(_) => None,
            ListValues::Attributes(pairs) if pairs.is_empty() => Some(attribute),
            ListValues::Attributes(pairs) => {
                let mut pairs = pairs.iter();
                let pair = pairs.find(|(shown, _)| *shown == attribute);
                pair.map(|(_, source)| *source)
            }
        }
    }
}

impl ListUrl {
    /// Parses a value, which may have a label behind its URL. `None` for one that finds nothing:
    /// with a host, or without a valid base and filter.
    pub(crate) fn parse(schema: &Schema, value: &[u8]) -> Option<ListUrl> {
        let text = std::str::from_utf8(value).ok()?.trim();
        let whole = ListUrl::parse_text(schema, text);
        whole.or_else(|| {
            let (url, _label) = text.split_once(char::is_whitespace)?;
            ListUrl::parse_text(schema, url)
        })
    }

    fn parse_text(schema: &Schema, text: &str) -> Option<ListUrl> {
        let url: LdapUrl = text.parse().ok()?;
        if url.host.is_some() {
            return None;
        }
        let parsed = url.filter.as_deref().map(FilterBuf::parse).transpose();
        let parsed = parsed.ok()?;
        let filter = match &parsed {
            None => Filter::resolve(schema, &FilterText::present("objectClass")),
            Some(parsed) => Filter::resolve(schema, &parsed.filter()),
        };
        Some(ListUrl {
            base: Dn::parse(schema, &url.dn).ok()?,
            scope: match url.scope {
                None | Some(UrlScope::Base) => Scope::Base,
                Some(UrlScope::One) => Scope::OneLevel,
                Some(UrlScope::Subtree) => Scope::Subtree,
                Some(UrlScope::Children) => Scope::Subordinates,
            },
            filter,
            attributes: url.attributes,
        })
    }

    /// Returns true if the URL lists no attributes, so that it finds members.
    pub(crate) fn finds_members(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Returns true if a name is in the region of the URL.
    pub(crate) fn contains(&self, dn: &Dn) -> bool {
        match self.scope {
            Scope::Base => *dn == self.base,
            Scope::OneLevel => dn.is_under(&self.base) && dn.depth() == self.base.depth() + 1,
            Scope::Subtree => dn.is_within(&self.base),
            Scope::Subordinates => dn.is_under(&self.base),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Option<ListUrl> {
        ListUrl::parse(&Schema::standard(), text.as_bytes())
    }

    #[test]
    fn urls_have_a_region_a_filter_and_attributes() {
        let schema = Schema::standard();
        let dn = |text: &str| Dn::parse(&schema, text).expect(text);
        let found = url("ldap:///ou=p,dc=x?mail,cn?sub?(cn=a%20b) label").expect("a URL");
        assert_eq!(found.attributes, ["mail", "cn"]);
        assert!(!found.finds_members());
        assert!(found.contains(&dn("ou=p,dc=x")) && found.contains(&dn("cn=a,ou=p,dc=x")));
        assert!(!found.contains(&dn("dc=x")));
        let scopes = ["", "base", "one", "sub", "children"].map(|scope| {
            let found = url(&format!("ldap:///dc=x??{scope}")).expect(scope);
            let names = ["dc=x", "ou=p,dc=x", "cn=a,ou=p,dc=x"];
            names.map(|name| found.contains(&dn(name)))
        });
        assert_eq!(
            scopes,
            [
                [true, false, false],
                [true, false, false],
                [false, true, false],
                [true, true, true],
                [false, true, true],
            ]
        );
    }

    #[test]
    fn texts_that_find_nothing_are_no_urls() {
        for text in [
            "",
            "dc=x",
            "http://h/",
            "ldap://host/dc=x??sub",
            "ldap:///zz??sub",
            "ldap:///dc=x??sub?(cn=a",
            "ldap:///dc=x??all",
        ] {
            assert!(url(text).is_none(), "{text}");
        }
        assert!(ListUrl::parse(&Schema::standard(), b"ldap:///\xff").is_none());
    }
}
