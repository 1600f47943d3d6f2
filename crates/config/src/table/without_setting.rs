//! Directives of the whole server that have no setting.

use super::readers::{ignore, note};
use super::security::authz_regexp;
use super::spec::{Directive, Row, Take};
use super::{Global, GlobalLayer};
use crate::names::SchemaPart;
use crate::statement::Statement;
use crate::{Note, Sourced};

const BUILT_IN: &str = "all modules are built in";
const ONE_POOL: &str = "the server has one pool of threads";
const NO_PLUGINS: &str = "the server has no plug-ins";
const NO_PROPERTIES: &str =
    "the server has no auxiliary property plug-ins; passwords come from the directory";
const OBSOLETE: &str = "keyword is obsolete (ignored)";

impl Global {
    /// Directives that have no setting: schema definitions, second names, and directives without
    /// effect.
    pub(crate) const DIRECTIVES: &'static [Row<GlobalLayer, Global>] = &[
        schema(
            "objectidentifier",
            "olcObjectIdentifier",
            "<name> <oid>",
            2,
            object_identifier,
        ),
        schema(
            "ldapsyntax",
            "olcLdapSyntaxes",
            "<syntax>",
            1,
            |layer, statement, _| definition(layer, statement, SchemaPart::LdapSyntax),
        ),
        schema(
            "attributetype",
            "olcAttributeTypes",
            "<attribute>",
            1,
            attribute_type,
        ),
        schema("attribute", "", "<attribute>", 1, attribute_type),
        schema(
            "objectclass",
            "olcObjectClasses",
            "<objectclass>",
            1,
            |layer, statement, _| definition(layer, statement, SchemaPart::ObjectClass),
        ),
        schema(
            "ditcontentrule",
            "olcDitContentRules",
            "<rule>",
            1,
            |layer, statement, _| definition(layer, statement, SchemaPart::DitContentRule),
        ),
        bare("ucdata-path", "", "<path>", (0, None), |_, s, notes| {
            ignore(s, notes, BUILT_IN)
        }),
        bare(
            "threadqueues",
            "olcThreadQueues",
            "<count>",
            (1, Some(1)),
            thread_queues,
        ),
        bare(
            "listener-threads",
            "olcListenerThreads",
            "<count>",
            (1, Some(1)),
            |_, s, notes| {
                s.unsigned()?;
                note(notes, s, format!("listener-threads: {ONE_POOL}"))
            },
        ),
        bare(
            "concurrency",
            "olcConcurrency",
            "<level>",
            (1, Some(1)),
            |_, s, notes| {
                s.int()?;
                note(notes, s, format!("concurrency: {ONE_POOL}"))
            },
        ),
        Row {
            write: |_| vec!["cn=Subschema".to_owned()],
            ..bare(
                "schemadn",
                "olcSchemaDN",
                "<dn>",
                (0, Some(1)),
                |_, s, notes| ignore(s, notes, "the schema is always at cn=Subschema"),
            )
        },
        bare(
            "authid-rewrite",
            "olcAuthIDRewrite",
            "<rewrite>",
            (1, None),
            |_, s, _| {
                Err(format!(
                    "<{}> rewriting is not built in; authz-regexp is",
                    s.keyword
                ))
            },
        ),
        bare(
            "pluginlog",
            "olcPluginLogFile",
            "<filename>",
            (1, Some(1)),
            |_, s, notes| ignore(s, notes, NO_PLUGINS),
        ),
        bare(
            "plugin",
            "olcPlugin",
            "<plugin_type> <lib_path> <init_function>",
            (1, None),
            plugin,
        ),
        bare(
            "TLSRandFile",
            "olcTLSRandFile",
            "<>",
            (1, Some(1)),
            |_, s, notes| ignore(s, notes, "random numbers come from the system"),
        ),
        bare("sasl-regexp", "", "<>", (2, Some(2)), push_regexp),
        bare("saslRegexp", "", "<>", (2, Some(2)), push_regexp),
        bare(
            "sasl-auxprops",
            "olcSaslAuxprops",
            "<>",
            (1, None),
            |_, s, notes| ignore(s, notes, NO_PROPERTIES),
        ),
        bare(
            "sasl-auxprops-dontusecopy",
            "olcSaslAuxpropsDontUseCopy",
            "<>",
            (1, None),
            |_, s, notes| ignore(s, notes, NO_PROPERTIES),
        ),
        bare(
            "sasl-auxprops-dontusecopy-ignore",
            "olcSaslAuxpropsDontUseCopyIgnore",
            "<on|off>",
            (1, Some(1)),
            |_, s, notes| ignore(s, notes, NO_PROPERTIES),
        ),
        bare("replica", "", "<host or uri>", (1, None), |_, s, notes| {
            ignore(s, notes, OBSOLETE)
        }),
        bare("replicationinterval", "", "", (0, None), |_, s, notes| {
            ignore(s, notes, OBSOLETE)
        }),
        bare("replogfile", "", "<filename>", (1, None), |_, s, notes| {
            ignore(s, notes, OBSOLETE)
        }),
        bare("replica-pidfile", "", "", (0, None), |_, s, notes| {
            ignore(s, notes, OBSOLETE)
        }),
        bare("replica-argsfile", "", "", (0, None), |_, s, notes| {
            ignore(s, notes, OBSOLETE)
        }),
    ];
}

const fn bare(
    keyword: &'static str,
    olc: &'static str,
    arguments: &'static str,
    (least, most): (usize, Option<usize>),
    take: Take<GlobalLayer>,
) -> Row<GlobalLayer, Global> {
    let directive = Directive {
        least,
        most,
        ..Directive::new(keyword, olc, arguments)
    };
    Row::bare(directive, take)
}

const fn schema(
    keyword: &'static str,
    olc: &'static str,
    arguments: &'static str,
    least: usize,
    take: Take<GlobalLayer>,
) -> Row<GlobalLayer, Global> {
    let directive = Directive {
        least,
        most: None,
        numbered: true,
        ..Directive::new(keyword, olc, arguments)
    };
    Row::bare(directive, take)
}

fn definition(
    layer: &mut GlobalLayer,
    statement: &Statement,
    part: fn(String) -> SchemaPart,
) -> Result<(), String> {
    if !statement.text.starts_with('(') {
        return Err(format!("<{}> old format not supported", statement.keyword));
    }
    let part = part(statement.text.clone());
    layer
        .schema
        .push(Sourced::new(part, statement.origin.clone()));
    Ok(())
}

fn attribute_type(
    layer: &mut GlobalLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    definition(layer, statement, SchemaPart::AttributeType)
}

fn object_identifier(
    layer: &mut GlobalLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let part = SchemaPart::ObjectIdentifier(statement.text.clone());
    layer
        .schema
        .push(Sourced::new(part, statement.origin.clone()));
    Ok(())
}

fn thread_queues(
    _: &mut GlobalLayer,
    statement: &Statement,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let count = statement.int()?;
    if count < 1 {
        return Err(format!(
            "threadqueues={count} smaller than minimum value 1."
        ));
    }
    note(notes, statement, format!("threadqueues: {ONE_POOL}"))
}

fn plugin(_: &mut GlobalLayer, statement: &Statement, _: &mut Vec<Note>) -> Result<(), String> {
    Err(match statement.arguments.len() {
        0..3 => "missing arguments in \"plugin <plugin_type> <lib_path> <init_function> \
                 [<arguments>]\" line"
            .to_owned(),
        _ => format!("<{}> there are no plug-ins", statement.keyword),
    })
}

fn push_regexp(
    layer: &mut GlobalLayer,
    statement: &Statement,
    _: &mut Vec<Note>,
) -> Result<(), String> {
    let rule = Sourced::new(authz_regexp(statement)?, statement.origin.clone());
    layer.authz_regexp.push(rule);
    Ok(())
}
