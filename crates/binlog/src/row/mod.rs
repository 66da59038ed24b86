//! Row images of rows events.
