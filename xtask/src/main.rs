//! Repository tasks: tidy checks and code generation.
fn main() {}
