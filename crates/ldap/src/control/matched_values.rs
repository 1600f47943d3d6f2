//! Matched values (RFC 3876): which values of an entry come back.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, Filter, FilterBuf, FilterTextError, Limits, oid};

/// The value of the matched values control. A value is returned if one of the items matches it.
///
/// The items are filters without `and`, `or` and `not`, and without the components of a name
/// (`:dn`). An empty list, which RFC 3876 does not provide for, restricts nothing, as in slapd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedValues<'a> {
    /// The items.
    pub items: Vec<Filter<'a>>,
}

impl<'a> MatchedValues<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::MATCHED_VALUES, "valuesReturnFilter control", |value| {
            MatchedValues::decode(value, &Limits::default()).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 3876, and beyond `limits`; the answer is
    /// `protocolError`.
    pub fn decode(value: &'a [u8], limits: &Limits) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut list = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let mut items = Vec::new();
        let items_max = limits.filter_parts_max;
        while !list.is_empty() {
            if items.len() >= items_max as usize {
                return Err(Fault::FilterTooLarge(items_max));
            }
            items.push(Filter::decode_item(&mut list)?);
        }
        Ok(MatchedValues { items })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            self.items.iter().for_each(|item| item.encode(writer));
        });
        out
    }

    /// Returns the control value for the text form, `((mail=*@a.org)(telephoneNumber=+49*))`; a
    /// single item may go without the outer parentheses.
    ///
    /// # Errors
    /// [`FilterTextError`] with the position of what cannot be understood.
    pub fn encode_text(text: &str) -> Result<Vec<u8>, FilterTextError> {
        let text = text.trim();
        let inner = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .filter(|inner| inner.trim_start().starts_with('('));
        let list = match inner {
            Some(items) => format!("(|{items})"),
            None if text.starts_with('(') => format!("(|{text})"),
            None => format!("(|({text}))"),
        };
        let list = FilterBuf::parse(&list)?;
        let Filter::Or(items) = list.filter() else {
            return Ok(Vec::new());
        };
        Ok(MatchedValues { items }.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        filter_depth_max: 10,
        filter_parts_max: 10,
    };

    fn decoded(text: &str) -> Result<Vec<String>, Fault> {
        let value = MatchedValues::encode_text(text).expect(text);
        let decoded = MatchedValues::decode(&value, &LIMITS)?;
        assert_eq!(decoded.encode(), value);
        Ok(decoded.items.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn items_come_back() {
        assert_eq!(
            decoded("((cn=a*)(sn>=b)(mail=*)(cn:caseExactMatch:=X))"),
            Ok(vec![
                "(cn=a*)".to_owned(),
                "(sn>=b)".to_owned(),
                "(mail=*)".to_owned(),
                "(cn:caseExactMatch:=X)".to_owned()
            ])
        );
        assert_eq!(decoded("(cn=a)"), Ok(vec!["(cn=a)".to_owned()]));
        assert_eq!(decoded("cn=a"), Ok(vec!["(cn=a)".to_owned()]));
    }

    #[test]
    fn junctions_and_too_many_items_are_refused() {
        for text in ["((&(cn=a)(cn=b)))", "((!(cn=a)))", "((cn=a)(|(cn=b)))"] {
            assert!(decoded(text).is_err(), "{text}");
        }
        assert!(MatchedValues::decode(b"\x31\x00", &LIMITS).is_err());
        let many = format!("({})", "(cn=a)".repeat(11));
        assert_eq!(decoded(&many), Err(Fault::FilterTooLarge(10)));
    }
}
