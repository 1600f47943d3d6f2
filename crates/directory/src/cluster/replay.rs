//! Operations on the attributes of an entry, byte by byte, and those that lead to another state.
//!
//! The order of attributes is a part of the content: clients see it.

use std::collections::HashMap;

use fulgurite_cluster::Operator;
use fulgurite_schema::{Attribute, AttributeDescription};

/// An operation on one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) operator: Operator,
    pub(super) attribute: Attribute,
}

/// Does operations in their order. Returns `None` if one of them does not fit.
pub(super) fn replay(attributes: &mut Vec<Attribute>, effects: &[Effect]) -> Option<()> {
    effects.iter().try_for_each(|effect| {
        let given = &effect.attribute;
        let at = place(attributes, &given.description);
        match (effect.operator, at) {
            (Operator::Add, None) if !given.values.is_empty() => attributes.push(given.clone()),
            (Operator::Add, Some(at)) => {
                let values = &mut attributes.get_mut(at)?.values;
                values.extend_from_slice(&given.values);
            }
            (Operator::Delete, Some(at)) => delete(attributes, at, &given.values)?,
            (Operator::Replace, at) => {
                at.map(|at| attributes.remove(at));
                if !given.values.is_empty() {
                    attributes.push(given.clone());
                }
            }
            (Operator::Update, Some(at)) if !given.values.is_empty() => {
                attributes.get_mut(at)?.values.clone_from(&given.values);
            }
            _ => return None,
        }
        Some(())
    })
}

/// Returns the operations that lead from one state to another.
pub(super) fn difference(before: &[Attribute], after: &[Attribute]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let staying = staying(before, after);
    let (stays, moves) = after.split_at(staying);
    let gone = before
        .iter()
        .filter(|held| place(after, &held.description).is_none());
    effects.extend(gone.map(|held| effect(Operator::Delete, &held.description, Vec::new())));
    for new in stays {
        let held = place(before, &new.description).and_then(|at| before.get(at));
        if let Some(held) = held.filter(|held| held.values != new.values) {
            effects.extend(of_values(held, new));
        }
    }
    effects.extend(moves.iter().map(|new| Effect {
        operator: match place(before, &new.description) {
            Some(_) => Operator::Replace,
            None => Operator::Add,
        },
        attribute: new.clone(),
    }));
    debug_assert!(
        {
            let mut replayed = before.to_vec();
            replay(&mut replayed, &effects).is_some() && replayed == after
        },
        "the difference leads to the state"
    );
    effects
}

/// Returns the number of the first attributes of `after` that are in the same order in `before`.
/// The others become the last ones.
fn staying(before: &[Attribute], after: &[Attribute]) -> usize {
    let mut rest = before.iter();
    let stays = |new: &&Attribute| rest.any(|held| held.description == new.description);
    after.iter().take_while(stays).count()
}

/// Returns the changes of values of an attribute that stays at its place.
fn of_values(held: &Attribute, new: &Attribute) -> Vec<Effect> {
    let mut kept: HashMap<&[u8], usize> = HashMap::new();
    for value in &new.values {
        *kept.entry(value).or_default() += 1;
    }
    let mut left = Vec::new();
    let mut removed = Vec::new();
    for value in &held.values {
        match kept.get_mut(value.as_slice()).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                left.push(value);
            }
            None => removed.push(value.clone()),
        }
    }
    let is_tail = new.values.iter().zip(&left).all(|(new, left)| new == *left);
    let added = new.values.get(left.len()..).unwrap_or_default();
    let is_short = removed.len() + added.len() < new.values.len();
    if left.is_empty() || !is_tail || !is_short {
        let update = effect(Operator::Update, &new.description, new.values.clone());
        return vec![update];
    }
    let removal = effect(Operator::Delete, &new.description, removed);
    let addition = effect(Operator::Add, &new.description, added.to_vec());
    let both = [removal, addition].into_iter();
    both.filter(|effect| !effect.attribute.values.is_empty())
        .collect()
}

/// Deletes values, or all of them.
fn delete(attributes: &mut Vec<Attribute>, at: usize, values: &[Vec<u8>]) -> Option<()> {
    let held = attributes.get_mut(at)?;
    let mut gone: HashMap<&[u8], usize> = HashMap::new();
    for value in values {
        *gone.entry(value).or_default() += 1;
    }
    held.values
        .retain(|value| match gone.get_mut(value.as_slice()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
    if gone.values().any(|count| *count > 0) {
        return None;
    }
    if held.values.is_empty() || values.is_empty() {
        attributes.remove(at);
    }
    Some(())
}

fn place(attributes: &[Attribute], description: &AttributeDescription) -> Option<usize> {
    let mut attributes = attributes.iter();
    attributes.position(|held| held.description == *description)
}

fn effect(operator: Operator, description: &AttributeDescription, values: Vec<Vec<u8>>) -> Effect {
    let attribute = Attribute {
        description: description.clone(),
        values,
    };
    Effect {
        operator,
        attribute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_schema::Schema;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    const NAMES: [&str; 6] = ["cn", "sn", "title", "description", "member", "cn;lang-de"];

    /// Makes attributes in any order, each once, with different values.
    fn states() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
        let names = subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_shuffle();
        let values = subsequence((b'a'..b'k').collect::<Vec<u8>>(), 1..8).prop_shuffle();
        names.prop_flat_map(move |names| {
            let count = names.len();
            vec(values.clone(), count)
                .prop_map(move |values| names.iter().copied().zip(values).collect())
        })
    }

    fn state(schema: &Schema, given: &[(&str, Vec<u8>)]) -> Vec<Attribute> {
        let attribute = |(name, values): &(&str, Vec<u8>)| Attribute {
            description: schema.describe(name.as_bytes()).expect(name),
            values: values.iter().map(|value| vec![*value]).collect(),
        };
        given.iter().map(attribute).collect()
    }

    proptest! {
        #[test]
        fn a_difference_leads_to_the_state(before in states(), after in states()) {
            let schema = Schema::standard();
            let (before, after) = (state(&schema, &before), state(&schema, &after));
            let mut replayed = before.clone();
            let effects = difference(&before, &after);
            prop_assert_eq!(replay(&mut replayed, &effects), Some(()));
            prop_assert_eq!(&replayed, &after);
            if before == after {
                prop_assert!(effects.is_empty());
            }
        }

        #[test]
        fn any_operation_has_an_outcome(
            before in states(),
            given in states(),
            operator in select(vec![
                Operator::Add, Operator::Delete, Operator::Replace, Operator::Update,
            ]),
        ) {
            let schema = Schema::standard();
            let mut attributes = state(&schema, &before);
            let effects = state(&schema, &given).into_iter();
            let effects: Vec<Effect> =
                effects.map(|attribute| Effect { operator, attribute }).collect();
            if replay(&mut attributes, &effects).is_some() {
                prop_assert!(attributes.iter().all(|held| !held.values.is_empty()));
            }
        }
    }

    #[test]
    fn a_value_of_many_is_one_operation() {
        let schema = Schema::standard();
        let many: Vec<u8> = (0..200).collect();
        let before = state(&schema, &[("member", many.clone()), ("cn", vec![1])]);
        let less = [&many[..100], &many[101..], &[220]].concat();
        let after = state(&schema, &[("member", less), ("cn", vec![1])]);
        let effects = difference(&before, &after);
        let operators: Vec<Operator> = effects.iter().map(|effect| effect.operator).collect();
        assert_eq!(operators, [Operator::Delete, Operator::Add]);
        assert!(
            effects
                .iter()
                .all(|effect| effect.attribute.values.len() == 1)
        );
    }
}
