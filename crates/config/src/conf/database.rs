//! Directives about databases and how they keep their data.

use super::{Directive, Kind, Reader, Section, Statement};
use crate::Sourced;
use crate::layer::Secret;
use crate::model::{PolicyLayer, StorageLayer, add_limit};
use crate::quantity::parse_c_int;
use fulgurite_policy::{
    DatabaseKind, FactorError, FeatureSet as _, Limit, OverlaySupport, SizeLimits, Subordinate,
    TimeLimits, find_overlay,
};

/// A truth value among the rules of a database.
macro_rules! rule {
    ($keyword:literal, $olc:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            "<on|off>",
            Kind::Truth(|reader, value, origin| {
                reader.policy().$field = Some(Sourced::new(value, origin));
            }),
        )
    };
}

/// A truth value of a database.
macro_rules! truth {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Truth(|reader, value, origin| {
                reader.database().content.$field = Some(Sourced::new(value, origin));
            }),
        )
    };
}

pub(crate) const DIRECTIVES: &[Directive] = &[
    Directive::one("suffix", "olcSuffix", "<suffix>", Kind::Words(suffix)).taking(0, Some(1)),
    Directive::one("rootdn", "olcRootDN", "<dn>", Kind::Words(rootdn)).taking(0, Some(1)),
    Directive::one("rootpw", "olcRootPW", "<password>", Kind::Words(rootpw)),
    Directive::one(
        "subordinate",
        "olcSubordinate",
        "[advertise]",
        Kind::Words(subordinate),
    )
    .taking(0, Some(1)),
    Directive::many("access", "olcAccess", "<access>", Kind::Words(access)).taking(0, None),
    rule!("add_content_acl", "olcAddContentAcl", add_content_acl).taking(0, Some(1)),
    rule!("lastmod", "olcLastMod", last_mod),
    rule!("lastbind", "olcLastBind", last_bind),
    Directive::one(
        "lastbind-precision",
        "olcLastBindPrecision",
        "<seconds>",
        Kind::Unsigned(|reader, value, origin| {
            reader.policy().last_bind_precision = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    rule!("readonly", "olcReadOnly", read_only),
    truth!("hidden", "olcHidden", "<on|off>", hidden),
    truth!("monitoring", "olcMonitoring", "<TRUE|FALSE>", monitoring),
    truth!(
        "sync_use_subentry",
        "olcSyncUseSubentry",
        "<on|off>",
        sync_use_subentry
    )
    .taking(0, Some(1)),
    Directive::one(
        "maxderefdepth",
        "olcMaxDerefDepth",
        "<depth>",
        Kind::Int(|reader, value, origin| {
            let value = u32::try_from(value).unwrap_or_default();
            reader.policy().max_deref_depth = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    Directive::many(
        "sizelimit",
        "olcSizeLimit",
        "<limit>",
        Kind::Words(sizelimit),
    ),
    Directive::many(
        "timelimit",
        "olcTimeLimit",
        "<limit>",
        Kind::Words(timelimit),
    ),
    Directive::many("limits", "olcLimits", "<limits>", Kind::Words(limits)),
    Directive::many(
        "restrict",
        "olcRestrict",
        "<op_list>",
        Kind::Words(restrict),
    ),
    Directive::many("require", "olcRequires", "<features>", Kind::Words(require)),
    Directive::many(
        "security",
        "olcSecurity",
        "<factors>",
        Kind::Words(security),
    ),
    Directive::one(
        "extra_attrs",
        "olcExtraAttrs",
        "<attrlist>",
        Kind::Words(extra_attrs),
    ),
    Directive::one("updatedn", "olcUpdateDN", "<dn>", Kind::Words(updatedn)).taking(0, Some(1)),
    Directive::many(
        "syncrepl",
        "olcSyncrepl",
        "<searchbase>",
        Kind::Words(syncrepl),
    )
    .taking(0, None),
    Directive::one("updateref", "olcUpdateRef", "<url>", Kind::Words(updateref)),
    Directive::one(
        "multiprovider",
        "olcMultiProvider",
        "<on|off>",
        Kind::Words(multi_provider),
    ),
    Directive::one("mirrormode", "", "<on|off>", Kind::Words(multi_provider)),
    Directive::one("overlay", "olcOverlay", "<overlay>", Kind::Words(overlay)),
];

/// What slapd's databases are where nothing is said and ours would be something else.
pub(crate) fn set_defaults(storage: &mut StorageLayer, all: &PolicyLayer, own: &mut PolicyLayer) {
    storage.default_indexes = Some(Sourced::by_default(false));
    // What is said of these once for all databases is not said of this one.
    let unless = |said: bool, value| said.then(|| Sourced::by_default(value));
    own.last_mod = unless(all.last_mod.is_some(), true);
    own.last_bind = unless(all.last_bind.is_some(), false);
    own.add_content_acl = unless(all.add_content_acl.is_some(), false);
    own.max_deref_depth = all
        .max_deref_depth
        .as_ref()
        .map(|_| Sourced::by_default(15));
}

/// What slapd calls the database being described, if it has no suffix to be given.
fn without_suffix(reader: &mut Reader) -> Option<&'static str> {
    match (reader.section(), reader.database().kind) {
        (Section::Global | Section::Backend, _) => Some("frontend"),
        (Section::Config, _) => Some("config"),
        (Section::Database(_), DatabaseKind::Monitor) => Some("monitor"),
        (Section::Database(_), _) => None,
    }
}

fn suffix(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let name = statement.first();
    if let Some(database) = without_suffix(reader) {
        return Err(format!(
            "suffix <{name}> not allowed in {database} database."
        ));
    }
    let suffixes = &mut reader.database().content.suffixes;
    if !suffixes.is_empty() {
        return Err("<suffix> Only one suffix is allowed on this mdb backend".to_owned());
    }
    suffixes.push(Sourced::new(name.to_owned(), statement.origin.clone()));
    Ok(())
}

fn rootdn(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let name = Some(statement.first().to_owned()).filter(|name| !name.is_empty());
    reader.database().content.root_dn = Some(Sourced::new(name, statement.origin.clone()));
    Ok(())
}

fn rootpw(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let special = without_suffix(reader);
    let content = &reader.database().content;
    let root = content
        .root_dn
        .as_ref()
        .and_then(|said| said.value.as_deref());
    let within = match (special, root) {
        (Some("config"), root) => is_within(root.unwrap_or("cn=config"), "cn=config"),
        (Some("monitor"), Some(root)) => is_within(root, "cn=monitor"),
        (None, Some(root)) => content
            .suffixes
            .iter()
            .any(|suffix| is_within(root, suffix)),
        _ => false,
    };
    if !within {
        return Err("<rootpw> can only be set when rootdn is under suffix".to_owned());
    }
    let password = Some(Secret(statement.first().to_owned()));
    reader.database().content.root_password =
        Some(Sourced::new(password, statement.origin.clone()));
    Ok(())
}

/// Whether a name is another one or below it, as far as that can be told without a schema.
fn is_within(name: &str, suffix: &str) -> bool {
    let plain = |dn: &str| {
        let lower = dn.to_lowercase();
        let parts = lower.split(',').map(|part| {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            format!("{}={}", attribute.trim(), value.trim())
        });
        parts.collect::<Vec<_>>()
    };
    suffix.trim().is_empty() || plain(name).ends_with(&plain(suffix))
}

fn subordinate(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let word = statement.first().to_ascii_lowercase();
    let value = match word.as_str() {
        "" | "true" => Subordinate::Glued,
        "false" => Subordinate::No,
        "advertise" => Subordinate::Advertised,
        _ => {
            let suffixes = &reader.database().content.suffixes;
            let suffix = suffixes.first().map_or("", |suffix| suffix.as_str());
            return Err(format!(
                "suffix \"{suffix}\": subordinate must be \"TRUE\" or \"advertise\"."
            ));
        }
    };
    if is_frontend(reader) && value != Subordinate::No {
        return Err("glue: no superior found for sub !".to_owned());
    }
    reader.database().content.subordinate = Some(Sourced::new(value, statement.origin.clone()));
    Ok(())
}

fn access(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let first = statement.first();
    if !first.eq_ignore_ascii_case("to") {
        return Err(match first {
            "" => {
                "access line without clauses; write access to <what> by <who> <access>".to_owned()
            }
            other => format!("expecting \"to\" or \"by\" got \"{other}\""),
        });
    }
    let rule = Sourced::new(statement.text.clone(), statement.origin.clone());
    reader.policy().access.push(rule);
    Ok(())
}

fn sizelimit(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let mut said = SizeLimits::default();
    for word in &statement.arguments {
        match one_limit(
            statement,
            word,
            "size",
            &mut said,
            &mut TimeLimits::default(),
        )? {
            Some(limit) => said = SizeLimits::up_to(limit),
            None => continue,
        }
    }
    let place = &mut reader.policy().size;
    let lower = place.as_ref().map(|size| size.value).unwrap_or_default();
    *place = Some(Sourced::new(said.over(lower), statement.origin.clone()));
    Ok(())
}

fn timelimit(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let mut said = TimeLimits::default();
    for word in &statement.arguments {
        match one_limit(
            statement,
            word,
            "time",
            &mut SizeLimits::default(),
            &mut said,
        )? {
            Some(limit) => said = TimeLimits::up_to(limit),
            None => continue,
        }
    }
    let place = &mut reader.policy().time;
    let lower = place.as_ref().map(|time| time.value).unwrap_or_default();
    *place = Some(Sourced::new(said.over(lower), statement.origin.clone()));
    Ok(())
}

/// One word of sizelimit or timelimit: part of the limits, or a number for both.
fn one_limit(
    statement: &Statement,
    word: &str,
    what: &str,
    size: &mut SizeLimits,
    time: &mut TimeLimits,
) -> Result<Option<Limit>, String> {
    let typed = &statement.keyword;
    if word
        .get(..4)
        .is_some_and(|head| head.eq_ignore_ascii_case(what))
    {
        return match add_limit(word, size, time) {
            true => Ok(None),
            false => Err(format!("<{typed}> unable to parse value \"{word}\"")),
        };
    }
    if word.eq_ignore_ascii_case("unlimited") {
        return Ok(Some(Limit::Unlimited));
    }
    match parse_c_int(word).and_then(|number| i32::try_from(number).ok()) {
        Some(number) => Ok(Some(
            u32::try_from(number).map_or(Limit::Unlimited, Limit::At),
        )),
        None => Err(format!("<{typed}> unable to parse limit \"{word}\"")),
    }
}

fn limits(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    const LINE: &str = "\"limits <pattern> <limits>\" line.";
    let words: Vec<&str> = statement
        .arguments
        .iter()
        .skip(1)
        .map(String::as_str)
        .collect();
    if words.is_empty() {
        return Err(format!("missing arg(s) in {LINE}"));
    }
    let rule = crate::model::limits_rule(statement.first(), &words)
        .map_err(|word| format!("unknown limit values \"{word}\" in {LINE}"))?;
    let rule = Sourced::new(rule, statement.origin.clone());
    reader.policy().limits.push(rule);
    Ok(())
}

fn restrict(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let place = &mut reader.policy().restrict;
    let set = place.get_or_insert_with(|| Sourced::new(Default::default(), origin));
    match statement.arguments.iter().find(|word| !set.value.add(word)) {
        Some(unknown) => Err(format!(
            "<{}> unknown operation {unknown}",
            statement.keyword
        )),
        None => Ok(()),
    }
}

fn require(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let typed = &statement.keyword;
    let place = &mut reader.policy().require;
    let set = place.get_or_insert_with(|| Sourced::new(Default::default(), origin));
    for (at, word) in statement.arguments.iter().enumerate() {
        if word.eq_ignore_ascii_case("none") && at > 0 {
            return Err(format!("<{typed}> \"none\" (#{at}) must be listed first"));
        }
        if !set.value.add(word) {
            return Err(format!("<{typed}> unknown feature #{at} \"{word}\""));
        }
    }
    Ok(())
}

fn security(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let typed = &statement.keyword;
    let place = &mut reader.policy().security;
    let set = place.get_or_insert_with(|| Sourced::new(Default::default(), origin));
    for word in &statement.arguments {
        set.value.add(word).map_err(|mistake| match mistake {
            FactorError::UnknownFactor => format!("<{typed}> unknown factor {word}"),
            FactorError::InvalidNumber => format!("<{typed}> unable to parse factor \"{word}\""),
        })?;
    }
    Ok(())
}

fn updatedn(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    if is_frontend(reader) {
        return Err("frontend database cannot be shadow.".to_owned());
    }
    let value = Some(statement.first().to_owned()).filter(|dn| !dn.is_empty());
    reader.database().content.update_dn = Some(Sourced::new(value, statement.origin.clone()));
    Ok(())
}

fn is_frontend(reader: &Reader) -> bool {
    matches!(reader.section(), Section::Global | Section::Backend)
}

fn extra_attrs(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let names = statement.first().split(',').filter(|name| !name.is_empty());
    let value = Sourced::new(names.map(str::to_owned).collect(), statement.origin.clone());
    reader.policy().extra_attributes = Some(value);
    Ok(())
}

fn syncrepl(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    if is_frontend(reader) {
        return Err(format!(
            "keyword <{}> only allowed within database declaration",
            statement.keyword
        ));
    }
    let content = &mut reader.database().content;
    if content
        .root_dn
        .as_ref()
        .is_none_or(|root| root.value.is_none())
    {
        return Err("rootDN must be defined before syncrepl may be used".to_owned());
    }
    let text = Sourced::new(statement.text.clone(), statement.origin.clone());
    content.syncrepl.push(text);
    let text = "syncrepl: this server does not copy others; the database stays as it is".to_owned();
    reader.warn(statement.origin.clone(), text);
    Ok(())
}

/// Whether the database is a copy of another server's.
fn is_shadow(reader: &mut Reader) -> bool {
    let content = &reader.database().content;
    !content.syncrepl.is_empty() || content.update_dn.is_some()
}

fn updateref(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    if !is_shadow(reader) {
        return Err("<updateref> must appear after syncrepl or updatedn".to_owned());
    }
    let url = Sourced::new(statement.first().to_owned(), statement.origin.clone());
    reader.database().content.update_refs.push(url);
    Ok(())
}

fn multi_provider(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let typed = &statement.keyword;
    let truth = super::directive::parse_truth(statement.first())
        .ok_or_else(|| format!("<{typed}> invalid value"))?;
    if truth && !is_shadow(reader) {
        return Err(format!("<{typed}> database is not a shadow"));
    }
    let value = Sourced::new(truth, statement.origin.clone());
    reader.database().content.multi_provider = Some(value);
    Ok(())
}

fn overlay(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let name = statement.first().to_ascii_lowercase();
    let origin = statement.origin.clone();
    match find_overlay(&name).map(|overlay| overlay.support) {
        None => return Err(format!("overlay \"{name}\" not found")),
        Some(OverlaySupport::Refused(without)) => {
            return Err(format!("overlay \"{name}\" is not built in: {without}"));
        }
        Some(OverlaySupport::LeftOut(without)) => {
            reader.warn(
                origin.clone(),
                format!("overlay \"{name}\" is left out: {without}"),
            );
        }
        Some(OverlaySupport::BuiltIn) => {}
    }
    reader.push_overlay(&name, origin);
    Ok(())
}
