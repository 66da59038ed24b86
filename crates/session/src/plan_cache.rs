//! Plans of text statements, by the statement's text with its literals taken out.
//!
//! The cache holds plans of a session. An entry is good as long as the dictionary has the version it was planned
//! with, and the session's settings that decide types are the same ([`PlanKey`]).

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use crate::dml::Ready;

/// Plans kept for one session.
const ENTRIES_MAX: usize = 256;

/// What a cached plan depends on beside the dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanKey {
    /// The literal-stripped text's hash, or the text itself.
    pub digest: u64,
    /// Settings that decide names and types.
    pub settings: u64,
}

/// A cached plan.
pub struct CachedPlan {
    /// The dictionary version it was made with.
    pub version: u64,
    /// Text without literals, compared so that a collision of hashes does no harm.
    pub normalized: Vec<u8>,
    /// The plan; its parameters are the literals in order.
    pub plan: Arc<Ready>,
}

/// The cache.
#[derive(Default)]
pub struct PlanCache {
    entries: HashMap<PlanKey, CachedPlan, FxBuildHasher>,
}

impl PlanCache {
    /// A plan that is still good.
    pub fn get(&mut self, key: &PlanKey, normalized: &[u8], version: u64) -> Option<Arc<Ready>> {
        match self.entries.get(key) {
            Some(e) if e.version == version && e.normalized == normalized => Some(e.plan.clone()),
            Some(_) => {
                self.entries.remove(key);
                None
            }
            None => None,
        }
    }

    /// Keeps a plan.
    pub fn put(&mut self, key: PlanKey, entry: CachedPlan) {
        if self.entries.len() >= ENTRIES_MAX {
            self.entries.clear();
        }
        self.entries.insert(key, entry);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}
