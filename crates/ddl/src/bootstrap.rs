//! The dictionary of a new server.

use selkie_catalog::Database;
use selkie_catalog::dictionary::DictionaryChange;
use selkie_types::Collation;

/// The changes that make the databases of a new server: `mysql` and `test`.
pub fn bootstrap(collation: Collation) -> Vec<DictionaryChange> {
    ["mysql", "test"]
        .into_iter()
        .map(|name| {
            DictionaryChange::PutDatabase(Database {
                name: name.into(),
                collation,
                comment: String::new(),
                tables: Default::default(),
            })
        })
        .collect()
}
