//! Circles in a graph of arrows.

use std::collections::BTreeMap;

/// Returns the strongly connected components with more than one node, each sorted.
///
/// `arrows` holds pairs of indices below `count`. Uses Kosaraju's two passes.
pub(crate) fn strong_components(count: usize, arrows: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut forward = vec![Vec::new(); count];
    let mut backward = vec![Vec::new(); count];
    for &(from, to) in arrows {
        forward[from].push(to);
        backward[to].push(from);
    }
    let mut order = Vec::with_capacity(count);
    let mut visited = vec![false; count];
    for start in 0..count {
        finish_order(start, &forward, &mut visited, &mut order);
    }
    let mut component: Vec<Option<usize>> = vec![None; count];
    for &root in order.iter().rev() {
        assign(root, root, &backward, &mut component);
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, root) in component.iter().enumerate() {
        members
            .entry(root.expect("every node has a component"))
            .or_default()
            .push(node);
    }
    members
        .into_values()
        .filter(|nodes| nodes.len() > 1)
        .collect()
}

/// Appends the nodes that `start` reaches to `order`, each after all nodes it points to.
fn finish_order(
    start: usize,
    forward: &[Vec<usize>],
    visited: &mut [bool],
    order: &mut Vec<usize>,
) {
    let mut stack = vec![(start, 0)];
    if std::mem::replace(&mut visited[start], true) {
        return;
    }
    while let Some((node, next)) = stack.pop() {
        match forward[node].get(next) {
            Some(&target) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut visited[target], true) {
                    stack.push((target, 0));
                }
            }
            None => order.push(node),
        }
    }
}

/// Marks all nodes that reach `start` and have no component yet.
fn assign(start: usize, root: usize, backward: &[Vec<usize>], component: &mut [Option<usize>]) {
    let mut stack = vec![start];
    while let Some(node) = stack.pop() {
        if component[node].is_none() {
            component[node] = Some(root);
            stack.extend(&backward[node]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_no_component() {
        assert!(strong_components(3, &[(0, 1), (1, 2), (0, 2)]).is_empty());
    }

    #[test]
    fn two_circles_are_found_and_the_bridge_between_them_is_not() {
        let arrows = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5)];
        assert_eq!(
            strong_components(6, &arrows),
            vec![vec![0, 1], vec![2, 3, 4]]
        );
    }
}
