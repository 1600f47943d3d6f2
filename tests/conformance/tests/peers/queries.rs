//! Questions of every kind: filters, scopes, selections, identities.

use std::fmt;

use fulgurite_client::Scope;
use fulgurite_testkit::Random;

use crate::data::{Data, SUFFIX};

/// The identity of the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    Anonymous,
    User,
    Root,
}

/// One search.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) who: Requester,
    pub(crate) base: String,
    pub(crate) scope: Scope,
    pub(crate) filter: String,
    pub(crate) attributes: Vec<String>,
    pub(crate) types_only: bool,
    pub(crate) size_limit: u32,
    /// True if referral objects are treated as entries.
    pub(crate) manage_dsa_it: bool,
}

impl Query {
    fn new(base: &str, scope: Scope, filter: &str, attributes: &[&str]) -> Self {
        Self {
            who: Requester::Root,
            base: base.to_owned(),
            scope,
            filter: filter.to_owned(),
            attributes: attributes.iter().map(|name| (*name).to_owned()).collect(),
            types_only: false,
            size_limit: 0,
            manage_dsa_it: true,
        }
    }

    /// True if the reference may find more, because its approximate match compares sounds.
    pub(crate) fn is_approximate(&self) -> bool {
        self.filter.contains("~=")
    }
}

impl fmt::Display for Query {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            who,
            base,
            scope,
            filter,
            attributes,
            types_only,
            size_limit,
            manage_dsa_it,
        } = self;
        write!(
            out,
            "{who:?} searches {scope:?} of \"{base}\" for {filter} selecting {attributes:?} (types only {types_only}, \
             size limit {size_limit}, ManageDsaIT {manage_dsa_it})"
        )
    }
}

/// Questions chosen for what they touch.
pub(crate) fn fixed(data: &Data) -> Vec<Query> {
    let people = format!("ou=People,{SUFFIX}");
    let ada = crate::data::USER_DN;
    let mut all = Vec::new();
    for filter in FILTERS {
        all.push(Query::new(SUFFIX, Scope::Subtree, filter, &["1.1"]));
        all.push(Query::new(&people, Scope::One, filter, &[]));
    }
    for selection in SELECTIONS {
        for who in [Requester::Anonymous, Requester::User, Requester::Root] {
            let plain = Query {
                who,
                ..Query::new(ada, Scope::Base, "(objectClass=*)", selection)
            };
            all.push(Query {
                types_only: true,
                ..plain.clone()
            });
            all.push(plain);
        }
    }
    for base in BASES {
        for scope in [Scope::Base, Scope::One, Scope::Subtree, Scope::Children] {
            let query = Query::new(base, scope, "(objectClass=*)", &["1.1"]);
            all.push(Query {
                who: Requester::User,
                size_limit: 400,
                ..query.clone()
            });
            all.push(Query {
                size_limit: 3,
                ..query
            });
        }
    }
    // The server's own size limit, and the client's below and above it.
    for (who, size_limit) in [
        (Requester::Anonymous, 0),
        (Requester::Anonymous, 7),
        (Requester::User, 600),
        (Requester::Root, 0),
        (Requester::Root, 1),
    ] {
        all.push(Query {
            who,
            size_limit,
            ..Query::new(SUFFIX, Scope::Subtree, "(objectClass=person)", &["uid"])
        });
    }
    let root = &[
        "namingContexts",
        "supportedLDAPVersion",
        "subschemaSubentry",
    ];
    all.push(Query::new("", Scope::Base, "(objectClass=*)", root));
    all.push(Query::new("", Scope::Base, "(cn=nobody)", root));
    all.push(Query::new(
        "cn=Subschema",
        Scope::Base,
        "(objectClass=subschema)",
        &["cn"],
    ));
    assert!(
        data.entries().len() > 500,
        "the server's own limit is beyond the data"
    );
    all
}

/// Questions at, below and above a referral object, without the control that makes it an ordinary
/// entry.
pub(crate) fn referrals() -> Vec<Query> {
    let suppliers = format!("ou=Suppliers,{SUFFIX}");
    let below = format!("cn=x,ou=y,{suppliers}");
    let mut all = Vec::new();
    for base in [SUFFIX, &suppliers, &below] {
        for scope in [Scope::Base, Scope::One, Scope::Subtree, Scope::Children] {
            for filter in ["(objectClass=*)", "(uid=ada)", "(ou=suppliers)"] {
                let query = Query::new(base, scope, filter, &["1.1"]);
                let plain = Query {
                    manage_dsa_it: false,
                    ..query.clone()
                };
                all.extend([
                    Query {
                        who: Requester::Anonymous,
                        ..plain.clone()
                    },
                    plain,
                    query,
                ]);
            }
        }
    }
    all
}

/// Questions that we answer otherwise, each with the reason.
pub(crate) fn deviations() -> Vec<(Query, &'static str)> {
    let prepared = "RFC 4518, 2.6.1: values begin and end with a space, so a substring of spaces is in all of them";
    let folded = "RFC 4518, 2.2 folds sharp s to ss, the reference does not";
    let published = "the reference does not find entries by an attribute that it shows";
    let filters = [
        ("(cn=* *)", prepared),
        ("(cn=*  *)", prepared),
        ("(cn=*room *)", prepared),
        ("(cn=*ß*)", folded),
        ("(cn=GROSSE WERFT)", folded),
        ("(subschemaSubentry=cn=Subschema)", published),
    ];
    let query = |filter| Query::new(SUFFIX, Scope::Subtree, filter, &["1.1"]);
    filters
        .into_iter()
        .map(|(filter, reason)| (query(filter), reason))
        .collect()
}

const FILTERS: &[&str] = &[
    "(&)",
    "(|)",
    "(!(&))",
    "(objectClass=*)",
    "(OBJECTCLASS=INETORGPERSON)",
    "(2.5.4.0=person)",
    "(objectClass=organizationalPerson)",
    "(objectClass=top)",
    "(objectClass=nosuchclass)",
    "(objectClass=2.5.6.6)",
    "(uid=ada)",
    "(uid=  ADA )",
    "(uid=nobody)",
    "(cn=ada  lovelace)",
    "(nosuch=x)",
    "(!(nosuch=x))",
    "(|(nosuch=x)(uid=ada))",
    "(&(nosuch=x)(uid=ada))",
    "(!(&(nosuch=x)(uid=ada)))",
    "(!(|(nosuch=x)(uid=ada)))",
    "(uidNumber=abc)",
    "(!(uidNumber=abc))",
    "(uidNumber>=10005)",
    "(uidNumber<=10005)",
    "(uidNumber=010005)",
    "(uidNumber=-1)",
    "(uidNumber>=x)",
    "(sn>=M)",
    "(sn<=m)",
    "(cn>=Z)",
    "(mail>=m)",
    "(createTimestamp>=20000101000000Z)",
    "(createTimestamp<=20000101000000Z)",
    "(createTimestamp>=yesterday)",
    "(member=*)",
    "(member=not a dn)",
    "(member=uid=ada,ou=Engineering,ou=People,dc=example,dc=org)",
    "(member=UID=Ada, OU=engineering,OU=people,DC=example,DC=org)",
    "(manager=uid=ada,ou=Engineering,ou=People,dc=example,dc=org)",
    "(manager=uid=ada*)",
    "(cn=*)",
    "(name=*)",
    "(name=Ada*)",
    "(name=engineering)",
    "(cn;lang-en=*)",
    "(cn;lang-de=*)",
    "(sn;lang-en=*)",
    "(cn=*a*)",
    "(cn=a*)",
    "(cn=*a)",
    "(cn=a*a)",
    "(cn=*a*b*)",
    "(cn=*\\2a*)",
    "(cn=*\\5c*)",
    "(cn=board, advisory)",
    "(cn=board*, adv*)",
    "(cn=große werft)",
    "(cn=*ø*)",
    "(cn=\\c3\\b8*)",
    "(cn=*\\ff*)",
    "(uid=)",
    "(cn=)",
    "(telephoneNumber=+494215550100)",
    "(telephoneNumber=+49 421 555-0100)",
    "(telephoneNumber=*555*)",
    "(telephoneNumber=*5 5 5*)",
    "(userPassword=*)",
    "(userPassword=ada-demo)",
    "(entryDN=uid=ada,ou=Engineering,ou=People,dc=example,dc=org)",
    "(entryUUID=*)",
    "(entryUUID=nonsense)",
    "(structuralObjectClass=inetOrgPerson)",
    "(structuralObjectClass=person)",
    "(hasSubordinates=TRUE)",
    "(hasSubordinates=FALSE)",
    "(hasSubordinates=maybe)",
    "(cn:caseExactMatch:=engineering)",
    "(cn:caseExactMatch:=Engineering)",
    "(cn:2.5.13.2:=ENGINEERING)",
    "(ou:dn:=people)",
    "(ou:dn:=People)",
    "(ou:dn:caseExactMatch:=people)",
    "(:dn:caseIgnoreMatch:=people)",
    "(:caseIgnoreMatch:=ada)",
    "(cn:nosuchrule:=x)",
    "(:nosuchrule:=x)",
    "(uidNumber:caseIgnoreMatch:=x)",
    "(dc:dn:=example)",
    "(uidNumber:1.2.840.113556.1.4.803:=1)",
    "(uidNumber:1.2.840.113556.1.4.804:=3)",
    "(uidNumber~=10005)",
    "(jpegPhoto=*)",
    "(jpegPhoto=x)",
    "(labeledURI=*)",
    "(postalAddress=*kai*)",
    "(l=bremen)",
    "(description=*)",
    "(!(description=*))",
    "(&(objectClass=person)(!(uid=ada)))",
    "(|(uid=ada)(uid=bjorn)(cn=wiki))",
    "(&(|(l=bremen)(l=oslo))(!(title=*engineer*)))",
    "(ipHostNumber=*)",
    "(ipHostNumber>=10)",
    "(memberUid=ada)",
    "(memberUid=ADA)",
    "(memberUid=a*)",
    "(gidNumber>=0)",
    "(employeeNumber>=5)",
    "(employeeNumber=0007)",
    "(serialNumber=*)",
    "(objectClass=alias)",
    "(objectClass=referral)",
    "(ref=*)",
    "(aliasedObjectName=*)",
    "(roleOccupant=*)",
    "(owner=*)",
    "(uniqueMember=*)",
    "(c=de)",
    "(preferredLanguage=*)",
    "(objectClass=p*)",
    "(objectClass>=p)",
    "(mail=*@example*)",
    "(mail=ADA@*)",
    "(homeDirectory=/home/*)",
    "(homeDirectory=/HOME/ada)",
];

const SELECTIONS: &[&[&str]] = &[
    &[],
    &["*"],
    &["+"],
    &["*", "+"],
    &["1.1"],
    &["1.1", "cn"],
    &["cn"],
    &["CN"],
    &["2.5.4.3"],
    &["name"],
    &["cn", "sn", "uid"],
    &["nosuch"],
    &["nosuch", "uid"],
    &["cn;lang-en"],
    &["cn;lang-de"],
    &["sn;lang-en"],
    &["*", "entryDN"],
    &["objectClass"],
    &["@person"],
    &["@inetOrgPerson"],
    &["@nosuch"],
    &["userPassword"],
    &["structuralObjectClass", "hasSubordinates"],
    &["createTimestamp"],
    &["uid", "uid"],
    &["uid", "UID", "0.9.2342.19200300.100.1.1"],
    &["jpegPhoto"],
    &["cn", "*"],
    &["+", "uid"],
];

const BASES: &[&str] = &[
    "dc=example,dc=org",
    "DC=Example, DC=Org",
    "ou=People,dc=example,dc=org",
    "ou=people , dc=EXAMPLE,dc=org",
    "ou=Groups,dc=example,dc=org",
    "ou=Rooms,dc=example,dc=org",
    "uid=ada,ou=Engineering,ou=People,dc=example,dc=org",
    "uid=nobody,ou=Engineering,ou=People,dc=example,dc=org",
    "cn=x,uid=nobody,ou=Engineering,ou=People,dc=example,dc=org",
    "cn=x,ou=nowhere,dc=example,dc=org",
    "dc=org",
    "dc=example,dc=com",
    "",
    "nonsense",
    "cn=,dc=example,dc=org",
    "=x,dc=example,dc=org",
    "nosuch=x,dc=example,dc=org",
    "cn=board\\, advisory,ou=Groups,dc=example,dc=org",
    "cn=board\\2C advisory,ou=Groups,dc=example,dc=org",
    "cn=\"board, advisory\",ou=Groups,dc=example,dc=org",
    "2.5.4.11=People,dc=example,dc=org",
    "cn=Große Werft,ou=Rooms,dc=example,dc=org",
    "ou=Suppliers,dc=example,dc=org",
    "cn=boss,ou=People,dc=example,dc=org",
    "cn=x,cn=boss,ou=People,dc=example,dc=org",
    "ou=people,ou=Generated,dc=example,dc=org",
];

/// `count` questions about this data, every kind among them.
pub(crate) fn random(data: &Data, random: &mut Random, count: usize) -> Vec<Query> {
    (0..count).map(|_| one(data, random)).collect()
}

fn one(data: &Data, random: &mut Random) -> Query {
    let entry = data.any(random);
    let base = match random.below(10) {
        0..=4 => SUFFIX.to_owned(),
        5..=6 => ancestor(&entry.dn, 1),
        7 => ancestor(&entry.dn, 0),
        8 => upper(&entry.dn),
        _ => format!("cn=absent,{}", entry.dn),
    };
    let scope = [
        Scope::Base,
        Scope::One,
        Scope::Subtree,
        Scope::Subtree,
        Scope::Subtree,
        Scope::Children,
    ][random.below(6)];
    let depth = random.below(4);
    let selection = SELECTIONS[random.below(SELECTIONS.len())];
    if random.below(20) == 0 {
        return approximate(data, random);
    }
    Query {
        who: [
            Requester::Anonymous,
            Requester::User,
            Requester::Root,
            Requester::Root,
        ][random.below(4)],
        types_only: random.below(10) == 0,
        size_limit: if random.below(10) == 0 {
            1 + random.below(40) as u32
        } else {
            0
        },
        ..Query::new(&base, scope, &filter(data, random, depth), selection)
    }
}

/// Approximate match is a separate case. The reference compares sounds and finds more, so only a
/// whole answer can be compared.
fn approximate(data: &Data, random: &mut Random) -> Query {
    let attribute = ASKED[random.below(ASKED.len())];
    let value = data
        .value_of(attribute, random)
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    Query::new(
        SUFFIX,
        Scope::Subtree,
        &format!("({attribute}~={})", escape(&value)),
        &["1.1"],
    )
}

fn ancestor(dn: &str, levels: usize) -> String {
    // Commas within values are escaped in none of the names above the leaf.
    let mut rest = dn;
    for _ in 0..levels {
        let cut = rest
            .rfind(",ou=")
            .filter(|_| rest.contains("\\,"))
            .or_else(|| rest.find(','));
        match cut {
            Some(cut) => rest = &rest[cut + 1..],
            None => break,
        }
    }
    rest.to_owned()
}

fn filter(data: &Data, random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return assertion(data, random);
    }
    match random.below(5) {
        0 => format!("(!{})", filter(data, random, depth - 1)),
        choice => {
            let parts: String = (0..1 + random.below(3))
                .map(|_| filter(data, random, depth - 1))
                .collect();
            format!("({}{parts})", if choice < 3 { '&' } else { '|' })
        }
    }
}

/// Attributes asked about: indexed and not, of every syntax in the data.
const ASKED: &[&str] = &[
    "uid",
    "mail",
    "cn",
    "sn",
    "givenName",
    "objectClass",
    "member",
    "memberUid",
    "uidNumber",
    "gidNumber",
    "telephoneNumber",
    "description",
    "title",
    "l",
    "manager",
    "employeeNumber",
    "departmentNumber",
    "homeDirectory",
    "preferredLanguage",
    "street",
    "ou",
    "name",
    "loginShell",
    "mobile",
    "o",
    "employeeType",
];

fn assertion(data: &Data, random: &mut Random) -> String {
    let attribute = ASKED[random.below(ASKED.len())];
    let Some(value) = data.value_of(attribute, random) else {
        return format!("({attribute}=*)");
    };
    let value = String::from_utf8_lossy(value).into_owned();
    match random.below(14) {
        0..=3 => format!("({attribute}={})", escape(&vary(&value, random))),
        4..=6 => format!("({attribute}={})", substrings(&value, random)),
        7 => format!("({attribute}=*)"),
        8 => format!("({attribute}>={})", escape(&value)),
        9 => format!("({attribute}<={})", escape(&value)),
        10..=11 => format!("({attribute}:dn:={})", escape(&value)),
        12 => {
            let rule = [
                "caseExactMatch",
                "2.5.13.2",
                "distinguishedNameMatch",
                "integerMatch",
                "objectIdentifierMatch",
            ];
            format!(
                "({attribute}:{}:={})",
                rule[random.below(rule.len())],
                escape(&value)
            )
        }
        _ => [
            "(nosuch=x)",
            "(|)",
            "(&)",
            "(uidNumber=many)",
            "(member=x)",
            "(objectClass=none)",
        ][random.below(6)]
        .to_owned(),
    }
}

/// In capitals, but for the one letter that the reference does not fold.
pub(crate) fn upper(text: &str) -> String {
    text.split('ß')
        .map(str::to_uppercase)
        .collect::<Vec<_>>()
        .join("ß")
}

/// The value in another case, with other spaces, or another value.
fn vary(value: &str, random: &mut Random) -> String {
    match random.below(6) {
        0 => upper(value),
        1 => value.to_lowercase(),
        2 => format!(" {} ", value.replace(' ', "   ")),
        3 => format!("{value}x"),
        _ => value.to_owned(),
    }
}

/// A substring assertion that the value passes, mostly.
fn substrings(value: &str, random: &mut Random) -> String {
    let characters: Vec<char> = value.chars().collect();
    let piece = |random: &mut Random, from: usize| -> (String, usize) {
        let from = (from + random.below(3)).min(characters.len());
        let to = (from + 1 + random.below(5)).min(characters.len());
        (characters[from..to].iter().collect(), to)
    };
    let (first, after) = piece(random, 0);
    let (second, _) = piece(random, after);
    let tail: String = characters[characters.len().saturating_sub(2)..]
        .iter()
        .collect();
    // Spaces at the ends of a piece are a deviation: see "prepared" above.
    let [first, second, tail] = [first, second, tail].map(|piece| escape(piece.trim()));
    let text = match random.below(6) {
        0 => format!("{first}*"),
        1 => format!("*{first}*"),
        2 => format!("*{tail}"),
        3 => format!("{first}*{tail}"),
        4 => format!("*{first}*{second}*"),
        _ => format!("{}*{second}*{tail}", upper(&first)),
    };
    // An empty piece would make "**", which is no filter; the others are deviations, see above.
    let apart = ["**", "* *", "*  *", "ß", "ss", "SS", "$"];
    if apart.iter().any(|piece| text.contains(piece)) {
        "*".to_owned()
    } else {
        text
    }
}

/// RFC 4515's escapes, also for a few characters that do not need them.
pub(crate) fn escape(value: &str) -> String {
    let mut text = String::new();
    for character in value.chars() {
        match character {
            '*' | '(' | ')' | '\\' | '\0' => text.push_str(&format!("\\{:02x}", character as u32)),
            'ä' => text.push_str("\\c3\\a4"),
            other => text.push(other),
        }
    }
    text
}
