//! Values, names and entries of the histories. There are few of each, so that they meet.

use fulgurite_testkit::Random;

use super::worlds::{CONTAINERS, Kind, World};

/// Attributes and values of an entry.
pub(crate) type Entry = Vec<(String, Vec<String>)>;

/// The source of names and values of a history.
pub(crate) struct Material<'m> {
    pub(crate) random: &'m mut Random,
    pub(crate) world: &'m World,
    /// The names of the present entries below the folders.
    pub(crate) names: &'m [String],
}

impl Material<'_> {
    /// The name of an entry that requests may change.
    pub(crate) fn existing(&mut self) -> Option<String> {
        (!self.names.is_empty()).then(|| self.random.pick(self.names).clone())
    }

    pub(crate) fn container(&mut self) -> String {
        format!(
            "ou={},{}",
            self.random.pick(&CONTAINERS),
            self.world.suffix()
        )
    }

    /// The RDN of an entry of a kind.
    pub(crate) fn rdn(&mut self, kind: Kind) -> (&'static str, String) {
        let number = self.random.below(8);
        match kind {
            Kind::Person => ("uid", format!("p{number}")),
            Kind::Unit => ("ou", format!("u{}", number % 4)),
            _ => ("cn", format!("g{number}")),
        }
    }

    /// A name as a value: mostly that of an entry, sometimes one that may come later.
    pub(crate) fn name_value(&mut self) -> String {
        let name = match self.random.below(20) {
            0 => self.world.suffix(),
            1 => format!("cn=missing,{}", self.world.suffix()),
            2..=5 => {
                let (attribute, value) = self.rdn(Kind::Person);
                format!("{attribute}={value},ou=people,{}", self.world.suffix())
            }
            _ => self.existing().unwrap_or_else(|| self.world.suffix()),
        };
        match self.random.below(12) {
            0 => name.to_uppercase(),
            1 => name.replacen(',', " , ", 1),
            _ => name,
        }
    }

    /// An URL of a dynamic group or list.
    pub(crate) fn url(&mut self, selects: bool) -> String {
        let base = match self.random.below(8) {
            0 => String::new(),
            1 => format!("cn=missing,{}", self.world.suffix()),
            2 => self.existing().unwrap_or_default(),
            _ => format!("ou=people,{}", self.world.suffix()),
        };
        let scope = ["sub", "sub", "one", "base", "", "children"][self.random.below(6)];
        let filter = match self.random.below(6) {
            0 => "(objectClass=person)".to_owned(),
            1 => format!("(uid=p{})", self.random.below(8)),
            2 => format!("(mail={})", self.value("mail")),
            3 => format!("(!(title={}))", self.value("title")),
            4 => "(&(objectClass=person)(|(uid=p1)(uid=p2)(uid=p3)))".to_owned(),
            _ => format!("(title={})", self.value("title")),
        };
        let attributes = match self.random.below(4) {
            0 if selects => "mail,title",
            1 if selects => "mail",
            2 if selects => "title,description",
            _ => "",
        };
        let host = if self.random.chance(4) { "host" } else { "" };
        format!("ldap://{host}/{base}?{attributes}?{scope}?{filter}")
    }

    /// A value of an attribute.
    pub(crate) fn value(&mut self, attribute: &str) -> String {
        let word = ["one", "two", "three", "four", "ONE", "five5", "two  2"][self.random.below(7)];
        if self.world.weighted.contains(&attribute) {
            return match self.random.below(24) {
                0 => word.to_owned(),
                1 => format!("{{x}}{word}"),
                2 => format!("{{}}{word}"),
                3 => format!("{{1{word}"),
                4 => format!("{{-1}}{word}"),
                _ => format!("{{{}}}{word}", self.random.below(4)),
            };
        }
        match attribute {
            "member" | "owner" | "manager" | "seeAlso" | "secretary" | "memberOf" => {
                self.name_value()
            }
            "uniqueMember" => {
                let name = self.name_value();
                if self.random.chance(15) {
                    format!("{name}#'01'B")
                } else {
                    name
                }
            }
            "memberURL" => self.url(self.world.name == "dynlist-lists"),
            "labeledURI" => self.url(false),
            "mail" => {
                let name = ["a", "b", "c", "d", "A", "E1", "toolong"][self.random.below(7)];
                format!("{name}@x.org")
            }
            "rank" | "uidNumber" | "gidNumber" => {
                ["1", "2", "10", "-3", "100", "9"][self.random.below(6)].to_owned()
            }
            "employeeNumber" => ["1", "2", "3", "12", "x"][self.random.below(5)].to_owned(),
            "uid" => format!("p{}", self.random.below(10)),
            "cn" => format!("g{}", self.random.below(8)),
            "pager" => "+1 555 0100".to_owned(),
            _ => word.to_owned(),
        }
    }

    /// Some values of an attribute, each once.
    pub(crate) fn values(&mut self, attribute: &str, count: usize) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        // slapd mixes the mapped attributes of several lists up.
        let count = if attribute == "labeledURI" {
            count.min(1)
        } else {
            count
        };
        for _ in 0..count {
            let value = self.value(attribute);
            let same = |known: &String| known.to_lowercase() == value.to_lowercase();
            if !values.iter().any(same) {
                values.push(value);
            }
        }
        values
    }

    /// A new entry: its name, and its attributes.
    pub(crate) fn entry(&mut self) -> (String, Entry) {
        let kind = *self.random.pick(self.world.kinds);
        let (naming, id) = self.rdn(kind);
        let home = match kind {
            Kind::Person => "people",
            Kind::Unit => *self.random.pick(&CONTAINERS),
            _ => "groups",
        };
        let parent = match self.random.below(10) {
            0 => self.container(),
            1 | 2 => self
                .existing()
                .unwrap_or_else(|| format!("ou=people,{}", self.world.suffix())),
            _ => format!("ou={home},{}", self.world.suffix()),
        };
        let mut entry = vec![("objectClass".to_owned(), self.classes(kind))];
        entry.push((naming.to_owned(), vec![id.clone()]));
        if kind == Kind::Person {
            entry.push(("cn".to_owned(), vec!["C".to_owned()]));
            entry.push(("sn".to_owned(), vec!["S".to_owned()]));
        }
        let required = match kind {
            Kind::Group | Kind::Team => Some("member"),
            Kind::UniqueGroup => Some("uniqueMember"),
            Kind::UrlGroup => Some("memberURL"),
            _ => None,
        };
        if let Some(attribute) = required {
            let count = self.random.between(1, 3);
            entry.push((attribute.to_owned(), self.values(attribute, count)));
        }
        for _ in 0..self.random.below(4) {
            let attribute = *self.random.pick(self.world.attributes);
            let is_new = entry.iter().all(|(known, _)| known != attribute);
            if is_new && (is_allowed(kind, attribute) || self.random.chance(3)) {
                let count = self.random.between(1, 3);
                entry.push((attribute.to_owned(), self.values(attribute, count)));
            }
        }
        (format!("{naming}={id},{parent}"), entry)
    }

    fn classes(&mut self, kind: Kind) -> Vec<String> {
        let classes: &[&str] = match kind {
            Kind::Person if self.world.attributes.contains(&"rank") => &["inetOrgPerson", "ranked"],
            Kind::Person if self.world.attributes.contains(&"labeledURI") => {
                &["inetOrgPerson", "labeledURIObject"]
            }
            Kind::Person => &["inetOrgPerson"],
            Kind::Group => &["groupOfNames"],
            Kind::Team => &["team"],
            Kind::UniqueGroup => &["groupOfUniqueNames"],
            Kind::Unit => &["organizationalUnit"],
            Kind::UrlGroup => &["groupOfURLs"],
        };
        classes.iter().map(|class| (*class).to_owned()).collect()
    }
}

/// Returns true if entries of the kind may have the attribute.
pub(crate) fn is_allowed(kind: Kind, attribute: &str) -> bool {
    let allowed: &[&str] = match kind {
        Kind::Person => &[
            "mail",
            "title",
            "description",
            "street",
            "employeeNumber",
            "employeeType",
            "carLicense",
            "l",
            "o",
            "pager",
            "manager",
            "seeAlso",
            "secretary",
            "uid",
            "rank",
            "labeledURI",
        ],
        Kind::Group | Kind::Team => &["member", "owner", "seeAlso", "description", "o"],
        Kind::UniqueGroup => &["uniqueMember", "owner", "seeAlso", "description", "o"],
        Kind::Unit => &["description", "l", "street", "seeAlso"],
        Kind::UrlGroup => &["memberURL", "description", "owner", "seeAlso", "o"],
    };
    allowed.contains(&attribute)
}
