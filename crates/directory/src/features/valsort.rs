//! The order of values in answers (slapd's overlay `valsort`), and the check of weights.

use fulgurite_ldap::ResultCode;
use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Schema};

use super::compilation::Compilation;
use crate::core::result::{OpResult, refuse};
use crate::core::value_order::{ValueComparison, ValueOrder, WeightError, split_weight};

/// The syntaxes whose values can be compared as numbers: integers and numeric strings.
const NUMERIC_SYNTAXES: [&str; 2] = [
    "1.3.6.1.4.1.1466.115.121.1.27",
    "1.3.6.1.4.1.1466.115.121.1.36",
];

/// The attributes whose values must have weights, each below a name.
#[derive(Debug)]
pub(crate) struct Weights(Vec<(AttributeDescription, Dn)>);

impl Weights {
    /// Refuses values of an entry without a weight, in the order of the directives. Like slapd, it
    /// is asked about values to delete, and not about new names.
    pub(crate) fn check<'a>(
        &self,
        dn: &Dn,
        attributes: impl Iterator<Item = &'a Attribute> + Clone,
    ) -> OpResult {
        for (attribute, _) in self.0.iter().filter(|(_, base)| dn.is_within(base)) {
            let attributes = attributes.clone();
            let given = attributes.filter(|given| given.description == *attribute);
            let mut values = given.flat_map(|given| &given.values);
            let text = match values.find_map(|value| split_weight(value).err()) {
                None => continue,
                Some(WeightError::Missing) => "weight missing from attribute",
                Some(WeightError::Malformed) => "weight is misformatted",
            };
            return Err(refuse(ResultCode::ConstraintViolation, text));
        }
        Ok(())
    }
}

/// Compiles the directives of the overlay.
///
/// # Errors
/// slapd's sentence about the first wrong directive.
pub(super) fn compile(
    compilation: &mut Compilation<'_>,
    settings: &OverlaySettings,
) -> Result<Vec<ValueOrder>, Sourced<String>> {
    let mut orders = Vec::new();
    for line in &settings.lines {
        let order = parse(compilation.schema, line);
        let order = order.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        let definition = compilation.schema.attribute_at(order.attribute.attribute);
        if definition.single_value {
            let name = order.attribute.text(compilation.schema);
            let text = format!("<valsort-attr> {name} is single-valued, ignoring ({name})!");
            compilation.warn(text, &line.origin);
            continue;
        }
        orders.push(order);
    }
    Ok(orders)
}

/// Returns the check of the orders with weights; `None` if there are none.
pub(super) fn weights(orders: &[ValueOrder]) -> Option<Weights> {
    let weighted = orders.iter().filter(|order| order.weighted);
    let weighted = weighted.map(|order| (order.attribute.clone(), order.base.clone()));
    let weights: Vec<_> = weighted.collect();
    (!weights.is_empty()).then_some(Weights(weights))
}

/// Parses `ATTRIBUTE BASE [weighted] [ORDER]`. Like slapd, it ignores a word after an order.
fn parse(schema: &Schema, line: &OverlayLine) -> Result<ValueOrder, String> {
    let (name, base, order, second) = match line.arguments.as_slice() {
        [name, base, order] => (name, base, order, None),
        [name, base, order, second] => (name, base, order, Some(second)),
        [] | [_] | [_, _] => {
            let text = "keyword <valsort-attr> missing <attribute> <dn> <sort-type> argument";
            return Err(text.to_owned());
        }
        _ => {
            let text = "<valsort-attr> extra cruft after <attribute> <dn> <sort-type>.";
            return Err(text.to_owned());
        }
    };
    let attribute = schema.describe_one(name.as_bytes()).map_err(|error| {
        let reason = error.reason();
        format!("<valsort-attr> {reason} ({name})!")
    })?;
    let base = Dn::parse(schema, base)
        .map_err(|_| format!("<valsort-attr> unable to normalize DN ({base})!"))?;
    let unknown = |word: &str| format!("<valsort-attr> unrecognized sort type ({word})!");
    let is_weighted = |word: &str| word.eq_ignore_ascii_case("weighted");
    let weighted = is_weighted(order);
    let by = match second.filter(|word| !is_weighted(word)) {
        None if weighted => None,
        Some(word) if weighted => Some(comparison(word).ok_or_else(|| unknown(word))?),
        _ => Some(comparison(order).ok_or_else(|| unknown(order))?),
    };
    let syntax = schema.attribute_at(attribute.attribute).syntax.oid;
    if by.is_some_and(|by| by.numeric) && !NUMERIC_SYNTAXES.contains(&syntax) {
        return Err(format!(
            "<valsort-attr> numeric sort specified for non-numeric syntax ({name})!"
        ));
    }
    Ok(ValueOrder {
        attribute,
        base,
        weighted,
        by,
    })
}

/// Returns the comparison of a name, in any case of letters.
fn comparison(name: &str) -> Option<ValueComparison> {
    let lower = name.to_ascii_lowercase();
    let (kind, direction) = lower.split_once('-')?;
    let numeric = match kind {
        "alpha" => false,
        "numeric" => true,
        _ => return None,
    };
    let descending = match direction {
        "ascend" => false,
        "descend" => true,
        _ => return None,
    };
    Some(ValueComparison {
        numeric,
        descending,
    })
}
