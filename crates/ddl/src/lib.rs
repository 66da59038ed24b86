//! Statements that change the dictionary.
