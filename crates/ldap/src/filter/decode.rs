//! Filters from their encoding.

use fulgurite_ber::{Reader, Tag};

use super::{
    AND, ANY, APPROXIMATE, Assertion, DN_ATTRIBUTES, EQUALITY, EXTENSIBLE, Extensible,
    FILTER_DEPTH_CEILING, FINAL, Filter, GREATER_OR_EQUAL, INITIAL, LESS_OR_EQUAL, MATCH_VALUE,
    NOT, OR, PRESENT, RULE, SUBSTRINGS, Substrings, TYPE,
};
use crate::{Fault, Limits, Values};

/// A junction whose parts are still being read.
struct OpenJunction<'a> {
    parts: Parts<'a>,
    reader: Reader<'a>,
}

enum Parts<'a> {
    And(Vec<Filter<'a>>),
    Or(Vec<Filter<'a>>),
    Not(Option<Filter<'a>>),
}

impl<'a> Filter<'a> {
    /// Decodes one filter and leaves what follows it in `reader`.
    ///
    /// # Errors
    /// A [`Fault`] for anything RFC 4511 does not permit, and beyond `limits`.
    pub(crate) fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, Fault> {
        let depth_max = limits.filter_depth_max.min(FILTER_DEPTH_CEILING);
        let mut parts_left = limits.filter_parts_max;
        let mut open: Vec<OpenJunction<'a>> = Vec::new();
        let mut element = reader.element()?;
        loop {
            parts_left = parts_left
                .checked_sub(1)
                .ok_or(Fault::FilterTooLarge(limits.filter_parts_max))?;
            let mut done = match junction(element) {
                Some(junction) => {
                    if open.len() >= usize::from(depth_max) {
                        return Err(Fault::FilterTooDeep(depth_max));
                    }
                    open.push(junction);
                    None
                }
                None => Some(leaf(element)?),
            };
            // Hand what is complete to what contains it, until something is left to read.
            loop {
                let Some(top) = open.last_mut() else {
                    return done.ok_or(Fault::Empty("filter"));
                };
                if let Some(filter) = done.take() {
                    top.accept(filter)?;
                }
                if !top.reader.is_empty() {
                    element = top.reader.element()?;
                    break;
                }
                done = match open.pop() {
                    Some(top) => Some(top.close()?),
                    None => None,
                };
            }
        }
    }
}

impl<'a> Filter<'a> {
    /// Decodes one item of a values return filter (RFC 3876, section 2): no junction. A `:dn`,
    /// which has no meaning there, is passed over.
    ///
    /// # Errors
    /// A [`Fault`] for anything else.
    pub(crate) fn decode_item(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let element = reader.element()?;
        if matches!(element.0, AND | OR | NOT) {
            return Err(Fault::FilterChoice(element.0));
        }
        let mut item = leaf(element)?;
        if let Filter::Extensible(extensible) = &mut item {
            extensible.dn_attributes = false;
        }
        Ok(item)
    }
}

fn junction<'a>((tag, content): (Tag, &'a [u8])) -> Option<OpenJunction<'a>> {
    let parts = match tag {
        AND => Parts::And(Vec::new()),
        OR => Parts::Or(Vec::new()),
        NOT => Parts::Not(None),
        _ => return None,
    };
    Some(OpenJunction {
        parts,
        reader: Reader::new(content),
    })
}

impl<'a> OpenJunction<'a> {
    fn accept(&mut self, filter: Filter<'a>) -> Result<(), Fault> {
        match &mut self.parts {
            Parts::And(parts) | Parts::Or(parts) => parts.push(filter),
            Parts::Not(part) => {
                self.reader.end()?;
                *part = Some(filter);
            }
        }
        Ok(())
    }

    fn close(self) -> Result<Filter<'a>, Fault> {
        match self.parts {
            Parts::And(parts) => Ok(Filter::And(parts)),
            Parts::Or(parts) => Ok(Filter::Or(parts)),
            Parts::Not(Some(part)) => Ok(Filter::Not(Box::new(part))),
            Parts::Not(None) => Err(Fault::Empty("not")),
        }
    }
}

fn leaf<'a>((tag, content): (Tag, &'a [u8])) -> Result<Filter<'a>, Fault> {
    let mut reader = Reader::new(content);
    let filter = match tag {
        EQUALITY => Filter::Equality(Assertion::decode(&mut reader)?),
        GREATER_OR_EQUAL => Filter::GreaterOrEqual(Assertion::decode(&mut reader)?),
        LESS_OR_EQUAL => Filter::LessOrEqual(Assertion::decode(&mut reader)?),
        APPROXIMATE => Filter::Approximate(Assertion::decode(&mut reader)?),
        SUBSTRINGS => Filter::Substrings(substrings(&mut reader)?),
        EXTENSIBLE => Filter::Extensible(extensible(&mut reader)?),
        PRESENT => return Ok(Filter::Present(content)),
        tag => return Err(Fault::FilterChoice(tag)),
    };
    Ok(filter)
}

impl<'a> Assertion<'a> {
    /// Reads the components of an AttributeValueAssertion, to the end of its container.
    pub(crate) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let attribute = reader.octet_string()?;
        let value = reader.octet_string()?;
        reader.skip_extensions()?;
        Ok(Assertion { attribute, value })
    }
}

fn substrings<'a>(reader: &mut Reader<'a>) -> Result<Substrings<'a>, Fault> {
    let attribute = reader.octet_string()?;
    let mut pieces = reader.nested(Tag::SEQUENCE)?;
    reader.skip_extensions()?;
    if pieces.is_empty() {
        return Err(Fault::Empty("substrings"));
    }
    let initial = pieces.optional(INITIAL)?;
    let from_any = pieces.remaining();
    while pieces.peek() == Some(ANY) {
        non_empty(pieces.element()?.1)?;
    }
    let any_len = from_any.len() - pieces.remaining().len();
    let any = Values::from_validated(from_any.get(..any_len).unwrap_or_default());
    let final_ = pieces.optional(FINAL)?;
    if let Some(tag) = pieces.peek() {
        return Err(Fault::SubstringOrder(tag));
    }
    for piece in [initial, final_].into_iter().flatten() {
        non_empty(piece)?;
    }
    Ok(Substrings {
        attribute,
        initial,
        any,
        final_,
    })
}

const fn non_empty(piece: &[u8]) -> Result<(), Fault> {
    if piece.is_empty() {
        Err(Fault::Empty("a substring"))
    } else {
        Ok(())
    }
}

fn extensible<'a>(reader: &mut Reader<'a>) -> Result<Extensible<'a>, Fault> {
    let rule = reader.optional(RULE)?;
    let attribute = reader.optional(TYPE)?;
    let value = reader.expect(MATCH_VALUE)?;
    let dn_attributes = match reader.optional(DN_ATTRIBUTES)? {
        Some(content) => Reader::boolean_of(content)?,
        None => false,
    };
    reader.skip_extensions()?;
    if rule.is_none() && attribute.is_none() {
        return Err(Fault::ExtensibleWithoutTarget);
    }
    Ok(Extensible {
        rule,
        attribute,
        value,
        dn_attributes,
    })
}
