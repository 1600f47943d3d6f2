//! Names: as parts, and written in all the ways that mean the same, or nothing.

use fulgurite_testkit::Random;

/// The name at the top of the data.
pub(crate) const SUFFIX: &[(&str, &str)] = &[("dc", "example"), ("dc", "org")];

/// Attribute and value of an RDN; several of them in some.
pub(crate) type Rdn = Vec<(String, String)>;

/// A name, its own RDN first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) Vec<Rdn>);

impl Name {
    pub(crate) fn suffix() -> Name {
        let rdn = |(attribute, value): &(&str, &str)| {
            vec![((*attribute).to_owned(), (*value).to_owned())]
        };
        Name(SUFFIX.iter().map(rdn).collect())
    }

    pub(crate) fn child(&self, attribute: &str, value: &str) -> Name {
        self.below(vec![(attribute.to_owned(), value.to_owned())])
    }

    pub(crate) fn below(&self, rdn: Rdn) -> Name {
        let mut rdns = vec![rdn];
        rdns.extend(self.0.iter().cloned());
        Name(rdns)
    }

    pub(crate) fn parent(&self) -> Option<Name> {
        let (_, rest) = self.0.split_first()?;
        Some(Name(rest.to_vec()))
    }

    pub(crate) fn rdn(&self) -> &Rdn {
        &self.0[0]
    }

    /// Returns true if it is the other name or below it.
    pub(crate) fn is_within(&self, other: &Name) -> bool {
        self.0.ends_with(&other.0)
    }

    /// As a careful client writes it.
    pub(crate) fn plain(&self) -> String {
        let rdns: Vec<String> = self.0.iter().map(plain_rdn).collect();
        rdns.join(",")
    }

    /// Returns the name as a client may write it: mostly plain, sometimes another spelling.
    pub(crate) fn spelt(&self, random: &mut Random) -> String {
        if !random.chance(25) {
            return self.plain();
        }
        let mut text = String::new();
        for (at, rdn) in self.0.iter().enumerate() {
            if at > 0 {
                text.push_str([",", ", ", " ,", ";", " , "][random.below(5)]);
            }
            text.push_str(&spelt_rdn(rdn, random));
        }
        text
    }
}

/// An RDN as a careful client writes it.
pub(crate) fn plain_rdn(rdn: &Rdn) -> String {
    let parts: Vec<String> = rdn
        .iter()
        .map(|(attribute, value)| format!("{attribute}={}", escaped(value)))
        .collect();
    parts.join("+")
}

/// Another spelling of the same RDN.
pub(crate) fn spelt_rdn(rdn: &Rdn, random: &mut Random) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (attribute, value) in rdn {
        let attribute = match random.below(6) {
            0 => attribute.to_uppercase(),
            1 => oid(attribute).unwrap_or(attribute).to_owned(),
            2 => long(attribute).unwrap_or(attribute).to_owned(),
            _ => attribute.clone(),
        };
        // Not "#" and hexadecimal digits: slapd takes no such values of attributes that are text,
        // see accepted.txt.
        let value = match random.below(8) {
            0 => hex_escaped(value),
            1 => escaped(&value.to_uppercase()),
            2 => format!("  {}  ", escaped(value)),
            3 => escaped(value).replacen(' ', "   ", 1),
            _ => escaped(value),
        };
        let equals = ["=", "=", "=", " = ", "= "][random.below(5)];
        parts.push(format!("{attribute}{equals}{value}"));
    }
    if random.chance(50) {
        parts.reverse();
    }
    parts.join(["+", " + "][random.below(2)])
}

fn escaped(value: &str) -> String {
    let mut text = String::new();
    let last = value.chars().count().saturating_sub(1);
    for (at, letter) in value.chars().enumerate() {
        let is_edge_space = letter == ' ' && (at == 0 || at == last);
        if is_edge_space || ",+\"\\<>;=".contains(letter) || (at == 0 && letter == '#') {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

fn hex_escaped(value: &str) -> String {
    value
        .bytes()
        .map(|octet| format!("\\{octet:02x}"))
        .collect()
}

fn oid(attribute: &str) -> Option<&'static str> {
    Some(match attribute {
        "cn" => "2.5.4.3",
        "ou" => "2.5.4.11",
        "uid" => "0.9.2342.19200300.100.1.1",
        "dc" => "0.9.2342.19200300.100.1.25",
        "l" => "2.5.4.7",
        _ => return None,
    })
}

fn long(attribute: &str) -> Option<&'static str> {
    Some(match attribute {
        "cn" => "commonName",
        "ou" => "organizationalUnitName",
        "uid" => "userid",
        "dc" => "domainComponent",
        "l" => "localityName",
        _ => return None,
    })
}

/// Texts that are no names, or names of nothing.
pub(crate) const ODD: &[&str] = &[
    "",
    " ",
    "nonsense",
    "=value",
    "cn=",
    "cn=,dc=example,dc=org",
    "cn=a,,dc=example,dc=org",
    "cn=a,dc=example,dc=org,",
    "cn=a+,dc=example,dc=org",
    "undefinedType=a,dc=example,dc=org",
    "9.9.9.9=a,dc=example,dc=org",
    "cn=\\zz,dc=example,dc=org",
    "cn=#04,dc=example,dc=org",
    "cn=#zz,dc=example,dc=org",
    "ou=#0403616263,dc=example,dc=org",
    "cn=\"quoted, name\",dc=example,dc=org",
    "OID.2.5.4.3=a,dc=example,dc=org",
    "dc=org",
    "dc=elsewhere",
    "c=toolong,dc=example,dc=org",
    "cn=a;lang-de,dc=example,dc=org",
    "cn;lang-de=a,dc=example,dc=org",
    "dc=com,dc=example",
    "cn=Subschema",
    "uidNumber=01,dc=example,dc=org",
    "member=cn\\=x,dc=example,dc=org",
    "cn=a\0b,dc=example,dc=org",
    "dn:cn=a",
];
