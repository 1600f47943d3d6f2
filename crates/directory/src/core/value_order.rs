//! The order in which a database shows the values of an attribute.
//!
//! ```text
//!   weighted          title: {2}two, {1}one   ->  title: one, two
//!   alpha-ascend      mail: b@x, a@x          ->  mail: a@x, b@x
//! ```
//!
//! The feature `valsort` compiles the orders, and `rights::projection` applies them. Searches
//! compare stored values, with their weights.

use std::cmp::Ordering;

use fulgurite_schema::{AttributeDescription, AttributeIndex, Dn, Entry, Schema};
use fulgurite_store::EntryView;

/// The syntax of integers. Their normal form is no text.
const INTEGER_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.27";

/// The order of the values of one attribute below one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueOrder {
    pub(crate) attribute: AttributeDescription,
    /// The top of the entries that it holds for.
    pub(crate) base: Dn,
    /// True if values begin with weights, which come first and are not shown.
    pub(crate) weighted: bool,
    /// The order of values of equal weight; `None` for the stored order.
    pub(crate) by: Option<ValueComparison>,
}

/// A comparison of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueComparison {
    /// True if values are compared as numbers.
    pub(crate) numeric: bool,
    pub(crate) descending: bool,
}

/// The orders of a database. Each applies to the result of those before it.
#[derive(Debug, Default)]
pub(crate) struct ValueOrders(Vec<ValueOrder>);

/// The reason why a value has no weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightError {
    Missing,
    Malformed,
}

/// A value with the keys that it is compared by.
struct SortedValue {
    weight: i64,
    number: i64,
    normal: Vec<u8>,
    value: Vec<u8>,
}

impl ValueOrders {
    pub(crate) fn new(orders: Vec<ValueOrder>) -> ValueOrders {
        ValueOrders(orders)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if an entry has an attribute with an order.
    pub(crate) fn concern(&self, entry: &EntryView<'_>) -> bool {
        let mut orders = self.0.iter();
        orders.any(|order| entry.values(&order.attribute).is_some())
    }

    /// Orders the values of an entry.
    pub(crate) fn apply(&self, schema: &Schema, entry: &mut Entry) {
        for order in &self.0 {
            if !entry.dn.is_within(&order.base) {
                continue;
            }
            if let Some(held) = entry.attribute_mut(&order.attribute) {
                order.sort(schema, &mut held.values);
            }
        }
    }
}

impl ValueOrder {
    /// Sorts values, and removes their weights. If a weight is missing, all stay as they are.
    fn sort(&self, schema: &Schema, values: &mut Vec<Vec<u8>>) {
        let attribute = self.attribute.attribute;
        let sorted = values.iter().map(|value| {
            let (weight, value) = match self.weighted {
                true => split_weight(value)?,
                false => (0, value.as_slice()),
            };
            Ok::<_, WeightError>(SortedValue::new(schema, attribute, weight, value))
        });
        let Ok(mut sorted) = sorted.collect::<Result<Vec<_>, _>>() else {
            return;
        };
        sorted.sort_by(|one, other| {
            let weights = one.weight.cmp(&other.weight);
            weights.then_with(|| self.by.map_or(Ordering::Equal, |by| by.compare(one, other)))
        });
        *values = sorted.into_iter().map(|sorted| sorted.value).collect();
    }
}

impl SortedValue {
    fn new(schema: &Schema, attribute: AttributeIndex, weight: i64, value: &[u8]) -> SortedValue {
        let normal = schema.normal_value(attribute, value);
        let normal = normal.map_or_else(|| value.to_vec(), |normal| normal.into_owned());
        let is_integer = schema.attribute_at(attribute).syntax.oid == INTEGER_SYNTAX;
        let digits = if is_integer { value } else { normal.as_slice() };
        SortedValue {
            weight,
            number: leading_number(digits).0,
            normal,
            value: value.to_vec(),
        }
    }
}

impl ValueComparison {
    fn compare(self, one: &SortedValue, other: &SortedValue) -> Ordering {
        let ascending = match self.numeric {
            true => one.number.cmp(&other.number),
            false => one.normal.cmp(&other.normal),
        };
        match self.descending {
            true => ascending.reverse(),
            false => ascending,
        }
    }
}

/// Divides a value into its weight and the rest. Like slapd, it forgets what is before the weight.
pub(crate) fn split_weight(value: &[u8]) -> Result<(i64, &[u8]), WeightError> {
    let mut parts = value.splitn(2, |&byte| byte == b'{');
    let (_, text) = parts.next().zip(parts.next()).ok_or(WeightError::Missing)?;
    let (weight, rest) = leading_number(text);
    let rest = rest.strip_prefix(b"}").ok_or(WeightError::Malformed)?;
    Ok((weight, rest))
}

/// Reads a number at the beginning of a text as C's `strtol` does, with its prefixes `0` and `0x`.
/// Returns 0 and the whole text if there is none.
fn leading_number(text: &[u8]) -> (i64, &[u8]) {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let spaces = text.iter().take_while(|byte| is_space(byte)).count();
    let unspaced = text.get(spaces..).unwrap_or_default();
    let (negative, unsigned) = match unspaced {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (radix, digits) = match unsigned {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
            (16, rest)
        }
        [b'0', ..] => (8, unsigned),
        _ => (10, unsigned),
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(radix);
    let count = digits.iter().map_while(digit).count();
    if count == 0 {
        return (0, text);
    }
    let number = digits.iter().map_while(digit).fold(0_i64, |number, digit| {
        let digit = i64::from(digit);
        let scaled = number.saturating_mul(i64::from(radix));
        match negative {
            true => scaled.saturating_sub(digit),
            false => scaled.saturating_add(digit),
        }
    });
    (number, digits.get(count..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(attribute: &str, weighted: bool, by: Option<(bool, bool)>, values: &str) -> String {
        let schema = Schema::standard();
        let order = ValueOrder {
            attribute: schema.describe(attribute.as_bytes()).expect("a type"),
            base: Dn::parse(&schema, "dc=x").expect("a name"),
            weighted,
            by: by.map(|(numeric, descending)| ValueComparison {
                numeric,
                descending,
            }),
        };
        let mut values: Vec<Vec<u8>> = values.split('|').map(|text| text.into()).collect();
        order.sort(&schema, &mut values);
        let texts = values.iter().map(|value| String::from_utf8_lossy(value));
        texts.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn weights_are_read_as_slapd_reads_them() {
        for (value, expected) in [
            ("{2}two", Ok((2, "two"))),
            ("{-3}", Ok((-3, ""))),
            ("{}none", Ok((0, "none"))),
            ("{ 7} a", Ok((7, " a"))),
            ("{010}a", Ok((8, "a"))),
            ("{0x1F}a", Ok((31, "a"))),
            ("{+1}a", Ok((1, "a"))),
            ("ab{1}c{2}", Ok((1, "c{2}"))),
            ("{99999999999999999999}a", Ok((i64::MAX, "a"))),
            ("{-99999999999999999999}a", Ok((i64::MIN, "a"))),
            ("two", Err(WeightError::Missing)),
            ("", Err(WeightError::Missing)),
            ("{x}a", Err(WeightError::Malformed)),
            ("{5x}a", Err(WeightError::Malformed)),
            ("{8 }a", Err(WeightError::Malformed)),
            ("{ }a", Err(WeightError::Malformed)),
            ("{09}a", Err(WeightError::Malformed)),
            ("{0x}a", Err(WeightError::Malformed)),
            ("{3", Err(WeightError::Malformed)),
        ] {
            let split = split_weight(value.as_bytes());
            let expected = expected.map(|(weight, rest)| (weight, rest.as_bytes()));
            assert_eq!(split, expected, "{value}");
        }
    }

    #[test]
    fn values_are_sorted_by_weight_then_by_value() {
        let stored = "{2}two|{1}one|{10}ten|{1}a one";
        assert_eq!(sorted("title", true, None, stored), "one|a one|two|ten");
        let ascending = Some((false, false));
        assert_eq!(
            sorted("title", true, ascending, stored),
            "a one|one|two|ten"
        );
        let descending = Some((false, true));
        assert_eq!(
            sorted("title", false, descending, "beta|Alpha|ZETA"),
            "ZETA|beta|Alpha"
        );
        assert_eq!(
            sorted("title", false, ascending, "b|A  b|a a"),
            "a a|A  b|b"
        );
        let numbers = "10|9|1 00|-1";
        let (up, down) = (Some((true, false)), Some((true, true)));
        assert_eq!(sorted("x121Address", false, up, numbers), "-1|9|10|1 00");
        assert_eq!(sorted("x121Address", false, down, numbers), "1 00|10|9|-1");
        let integers = "10|9|100|-1|-20";
        assert_eq!(sorted("uidNumber", false, up, integers), "-20|-1|9|10|100");
    }

    #[test]
    fn values_stay_as_stored_if_one_has_no_weight() {
        let stored = "{2}two|plain|{1}one";
        assert_eq!(sorted("title", true, None, stored), stored);
    }
}
