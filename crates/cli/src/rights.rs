//! Queries about access rights as written on a command line: `mail`, `mail/write`,
//! `userPassword/auth:secret`.

use std::sync::Arc;

use fulgurite_directory::{Connection, ExplainTarget, Identity, Name, Rights, Session};
use fulgurite_schema::{Dn, Schema};

/// One query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessQuery {
    pub(crate) target: ExplainTarget,
    /// The requested access, as written in the query.
    pub(crate) wanted: Option<(String, Rights)>,
}

/// An error in a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueryError {
    #[error("unknown access {access:?} for attribute {attribute:?}")]
    Access { access: String, attribute: String },
    #[error("{0:?} not allowed for attribute {1:?}")]
    Nothing(String, String),
    #[error("{0}: attribute type undefined")]
    Attribute(String),
}

impl AccessQuery {
    /// Reads `ATTRIBUTE[/ACCESS][:VALUE]`.
    pub(crate) fn parse(schema: &Schema, text: &str) -> Result<AccessQuery, QueryError> {
        let (head, value) = match text.split_once(':') {
            None => (text, None),
            Some((head, value)) => (head, Some(value.as_bytes().to_vec())),
        };
        let (attribute, access) = match head.split_once('/') {
            None => (head, None),
            Some((attribute, access)) => (attribute, Some(access)),
        };
        let wanted = access.map(|access| wanted(access, attribute)).transpose()?;
        let target = match attribute.to_ascii_lowercase().as_str() {
            "entry" => ExplainTarget::Entry,
            "children" => ExplainTarget::Children,
            _ => {
                let description = schema.describe(attribute.as_bytes());
                let description =
                    description.map_err(|_| QueryError::Attribute(attribute.to_owned()))?;
                ExplainTarget::Attribute(description, value)
            }
        };
        Ok(AccessQuery { target, wanted })
    }
}

fn wanted(access: &str, attribute: &str) -> Result<(String, Rights), QueryError> {
    let rights = match access.to_ascii_lowercase().as_str() {
        "none" => return Err(QueryError::Nothing(access.to_owned(), attribute.to_owned())),
        "disclose" => Rights::DISCLOSE,
        "auth" => Rights::AUTH,
        "compare" => Rights::COMPARE,
        "search" => Rights::SEARCH,
        "read" => Rights::READ,
        "add" => Rights::ADD,
        "delete" => Rights::DELETE,
        "write" => Rights::WRITE,
        "manage" => Rights::MANAGE,
        _ => {
            return Err(QueryError::Access {
                access: access.to_owned(),
                attribute: attribute.to_owned(),
            });
        }
    };
    Ok((access.to_ascii_lowercase(), rights))
}

/// Makes a session of an authenticated identity over that connection.
pub(crate) fn session_of(connection: Connection, who: Option<&Dn>) -> Session {
    let mut session = Session::on(Arc::new(connection));
    if let Some(dn) = who.filter(|dn| !dn.is_root()) {
        session.set_identity(Identity::User(Name::from(dn)));
    }
    session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_parsed() {
        let schema = Schema::standard();
        let parsed = |text: &str| {
            let question = AccessQuery::parse(&schema, text).map_err(|wrong| wrong.to_string())?;
            Ok::<_, String>((question.target, question.wanted.map(|(word, _)| word)))
        };
        let cn = schema.describe(b"cn").expect("cn");
        let plain = ExplainTarget::Attribute(cn.clone(), None);
        assert_eq!(parsed("entry"), Ok((ExplainTarget::Entry, None)));
        assert_eq!(
            parsed("children/write"),
            Ok((ExplainTarget::Children, Some("write".to_owned())))
        );
        assert_eq!(parsed("cn"), Ok((plain, None)));
        let valued = ExplainTarget::Attribute(cn, Some(b"a/b:c".to_vec()));
        assert_eq!(
            parsed("cn/Read:a/b:c"),
            Ok((valued, Some("read".to_owned())))
        );
        for (text, reason) in [
            ("nope", "nope: attribute type undefined"),
            ("cn/=rs", "unknown access \"=rs\" for attribute \"cn\""),
            ("sn/none", "\"none\" not allowed for attribute \"sn\""),
        ] {
            assert_eq!(parsed(text), Err(reason.to_owned()));
        }
    }
}
