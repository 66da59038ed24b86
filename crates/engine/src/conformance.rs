//! Tests that every engine must pass. An engine's own tests call them with a way to open it.
