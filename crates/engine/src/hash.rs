//! Tables by hash. Their keys are page numbers and names of databases, which no attacker chooses.

use rustc_hash::FxBuildHasher;

/// A map by hash.
pub(crate) type FxHashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;
/// A set by hash.
pub(crate) type FxHashSet<K> = hashbrown::HashSet<K, FxBuildHasher>;
