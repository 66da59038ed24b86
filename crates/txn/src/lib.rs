//! wip
pub mod error; pub mod locks; pub mod write_set; pub mod snapshots; pub mod pipeline;
