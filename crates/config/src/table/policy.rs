//! Rules of a database, or of all databases.

use fulgurite_policy::{
    FactorError, FeatureSet as _, Limit, LimitsRule, Require, Restrict, Security, SizeLimits,
    TimeLimits,
};

use super::flag::Flag;
use super::group::settings;
use super::readers::zero_unless_positive;
use super::spec::slapd;
use crate::argument_text::ArgumentText;
use crate::limits::{add_limit, limits_rule};
use crate::quantity::parse_c_int;
use crate::setting::Setting as _;
use crate::statement::Statement;
use crate::table::spec::own;
use crate::{Note, Sourced};

settings! {
    /// Rules of a database, or of all databases.
    Policy / PolicyLayer {
        /// Entries that one search may return, or `unlimited`. Words set single bounds: `soft`,
        /// `hard`, `unchecked`, `pr`, `prtotal`.
        "limits.size" size: SizeLimits = SizeLimits::up_to(Limit::At(500))
            => slapd("sizelimit", "olcSizeLimit", "<limit>").many().take(size_limit).flag(Flag::value("--size-limit", "ENTRIES"))
                .examples(&["\"soft=100 hard=1000 unchecked=50000 pr=200 prtotal=unlimited\""]);
        /// Seconds that one search may take, or `unlimited`. Words set single bounds: `soft`,
        /// `hard`.
        "limits.time" time: TimeLimits = TimeLimits::up_to(Limit::At(3600))
            => slapd("timelimit", "olcTimeLimit", "<limit>").many().take(time_limit).flag(Flag::value("--time-limit", "SECONDS"))
                .examples(&["\"soft=10 hard=60\""]);
        /// Values that `dynlist` and the groups of an entry add to one entry. With more, the search
        /// ends with sizeLimitExceeded behind that entry.
        "limits.expanded" expanded: u32 = 100_000 => own();
        /// Entries that one tree delete removes, or `unlimited`. Other updates wait meanwhile, and
        /// the deleted entries are in memory.
        "limits.tree_delete" tree_delete: Option<u32> = Some(100_000) => own();
        /// Operations that are refused: `bind`, `add`, `modify`, `rename`, `delete`, `search`,
        /// `compare`, `extended`, `read`, `write`, `all`, `extended=OID`.
        "restrict" restrict: Restrict = Restrict::default()
            => slapd("restrict", "olcRestrict", "<op_list>").many().adding(Restrict::default, add_restrict);
        /// Conditions that a client must meet before it asks: `bind`, `LDAPv3`, `authc`, `SASL`,
        /// `strong`. `none`, first, drops the conditions of all databases for one of them.
        "require" require: Require = Require::default()
            => slapd("require", "olcRequires", "<features>").many().adding(Require::default, add_require);
        /// Least strengths of connections in bits: `ssf`, `transport`, `tls`, `sasl`, `update_ssf`,
        /// `update_transport`, `update_tls`, `update_sasl`, `simple_bind`.
        "security" security: Security = Security::default()
            => slapd("security", "olcSecurity", "<factors>").many().adding(Security::default, add_security)
                .examples(&["[\"simple_bind=128\", \"update_ssf=128\"]"]);
        /// Refuse all updates.
        "read_only" read_only: bool = false => slapd("readonly", "olcReadOnly", "<on|off>");
        /// Keep `modifyTimestamp`, `entryCSN` and their like.
        "last_mod" last_mod: bool = true => slapd("lastmod", "olcLastMod", "<on|off>");
        /// Keep the time of the last successful bind in `pwdLastSuccess`.
        "last_bind" last_bind: bool = false => slapd("lastbind", "olcLastBind", "<on|off>");
        /// Seconds within which another bind does not change that time.
        "last_bind_precision" last_bind_precision: u32 = 0
            => slapd("lastbind-precision", "olcLastBindPrecision", "<seconds>")
                .write(|seconds| if *seconds > 0 { seconds.olc() } else { Vec::new() });
        /// Aliases that one search follows in a row.
        "max_deref_depth" max_deref_depth: u32 = 15
            => slapd("maxderefdepth", "olcMaxDerefDepth", "<depth>").read(zero_unless_positive);
        /// Ask the access rules for each value of an added entry.
        "add_content_acl" add_content_acl: bool = false
            => slapd("add_content_acl", "olcAddContentAcl", "<on|off>").taking(0, Some(1));
        /// Attributes that proxies keep in entries in addition to those that a client asks for.
        "extra_attributes" extra_attributes: Vec<String> = Vec::new()
            => slapd("extra_attrs", "olcExtraAttrs", "<attrlist>").read(|statement| {
                let names = statement.first().split(',').filter(|name| !name.is_empty());
                Ok(names.map(str::to_owned).collect())
            });
    } {
        /// Access rules in the language of slapd.access(5); the first rule that matches decides.
        /// Without rules, every client reads everything except `userPassword`, which serves to log
        /// in.
        "access" access: ArgumentText
            => slapd("access", "olcAccess", "<access>").taking(0, None).numbered().read(access)
                .installed(&["[\n    \"to attrs=userPassword by self write by * auth\",\n    \"to * by * read\",\n]"]);
        /// Bounds for some identities, in order; the first rule that selects the requester counts.
        "limits.identities" limits: LimitsRule
            => slapd("limits", "olcLimits", "<limits>").many().numbered().read(limits)
                .examples(&["[\"users size=1000\", \"dn.exact=\\\"cn=sync,dc=example,dc=com\\\" size=unlimited\"]"]);
    }
}

impl PolicyLayer {
    /// Returns this layer with the settings that it inherits from the rules of all databases. It
    /// inherits no list.
    #[must_use]
    pub fn inheriting(self, all: &PolicyLayer) -> PolicyLayer {
        let all = PolicyLayer {
            access: Vec::new(),
            limits: Vec::new(),
            restrict: None,
            require: None,
            security: None,
            ..all.clone()
        };
        let size = self.size.clone().zip(all.size.clone());
        let time = self.time.clone().zip(all.time.clone());
        let mut joined = self.over(all);
        if let (Some(own), Some((upper, lower))) = (&mut joined.size, size) {
            own.value = upper.value.over(lower.value);
        }
        if let (Some(own), Some((upper, lower))) = (&mut joined.time, time) {
            own.value = upper.value.over(lower.value);
        }
        joined
    }
}

fn access(statement: &Statement) -> Result<ArgumentText, String> {
    match statement.first() {
        to if to.eq_ignore_ascii_case("to") => Ok(ArgumentText::from_statement(statement)),
        "" => {
            Err("access line without clauses; write access to <what> by <who> <access>".to_owned())
        }
        other => Err(format!("expecting \"to\" or \"by\" got \"{other}\"")),
    }
}

fn size_limit(
    layer: &mut PolicyLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let mut size = SizeLimits::default();
    let mut time = TimeLimits::default();
    for word in &statement.arguments {
        if let Some(limit) = one_limit(statement, word, "size", (&mut size, &mut time))? {
            size = SizeLimits::up_to(limit);
        }
    }
    let lower = layer.size.as_ref().map(|size| size.value);
    let size = size.over(lower.unwrap_or_default());
    layer.size = Some(Sourced::new(size, statement.origin.clone()));
    Ok(())
}

fn time_limit(
    layer: &mut PolicyLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let mut size = SizeLimits::default();
    let mut time = TimeLimits::default();
    for word in &statement.arguments {
        if let Some(limit) = one_limit(statement, word, "time", (&mut size, &mut time))? {
            time = TimeLimits::up_to(limit);
        }
    }
    let lower = layer.time.as_ref().map(|time| time.value);
    let time = time.over(lower.unwrap_or_default());
    layer.time = Some(Sourced::new(time, statement.origin.clone()));
    Ok(())
}

/// Reads one word of sizelimit or timelimit: part of the bounds, or a number for soft and hard.
fn one_limit(
    statement: &Statement,
    word: &str,
    prefix: &str,
    (size, time): (&mut SizeLimits, &mut TimeLimits),
) -> Result<Option<Limit>, String> {
    let typed = &statement.keyword;
    let head = word.get(..4);
    if head.is_some_and(|head| head.eq_ignore_ascii_case(prefix)) {
        return match add_limit(word, size, time) {
            true => Ok(None),
            false => Err(format!("<{typed}> unable to parse value \"{word}\"")),
        };
    }
    if word.eq_ignore_ascii_case("unlimited") {
        return Ok(Some(Limit::Unlimited));
    }
    match parse_c_int(word).and_then(|number| i32::try_from(number).ok()) {
        Some(number) => {
            let limit = u32::try_from(number).map_or(Limit::Unlimited, Limit::At);
            Ok(Some(limit))
        }
        None => Err(format!("<{typed}> unable to parse limit \"{word}\"")),
    }
}

fn limits(statement: &Statement) -> Result<LimitsRule, String> {
    const LINE: &str = "\"limits <pattern> <limits>\" line.";
    let words = statement.arguments.iter().skip(1);
    let words: Vec<&str> = words.map(String::as_str).collect();
    if words.is_empty() {
        return Err(format!("missing arg(s) in {LINE}"));
    }
    limits_rule(statement.first(), &words)
        .map_err(|word| format!("unknown limit values \"{word}\" in {LINE}"))
}

fn add_restrict(set: &mut Restrict, statement: &Statement) -> Result<(), String> {
    let typed = &statement.keyword;
    match statement.arguments.iter().find(|word| !set.add(word)) {
        Some(unknown) => Err(format!("<{typed}> unknown operation {unknown}")),
        None => Ok(()),
    }
}

fn add_require(set: &mut Require, statement: &Statement) -> Result<(), String> {
    let typed = &statement.keyword;
    for (at, word) in statement.arguments.iter().enumerate() {
        if word.eq_ignore_ascii_case("none") && at > 0 {
            return Err(format!("<{typed}> \"none\" (#{at}) must be listed first"));
        }
        if !set.add(word) {
            return Err(format!("<{typed}> unknown feature #{at} \"{word}\""));
        }
    }
    Ok(())
}

fn add_security(set: &mut Security, statement: &Statement) -> Result<(), String> {
    let typed = &statement.keyword;
    for word in &statement.arguments {
        set.add(word).map_err(|error| match error {
            FactorError::UnknownFactor => format!("<{typed}> unknown factor {word}"),
            FactorError::InvalidNumber => format!("<{typed}> unable to parse factor \"{word}\""),
        })?;
    }
    Ok(())
}
