//! Finds the WiredTiger library and links it.
//!
//! `SELKIE_WIREDTIGER_DIR` may name a folder with `include/wiredtiger.h` and `lib/libwiredtiger.a`. Without it,
//! `scripts/build-wiredtiger.sh` makes that folder in the user's cache, once.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=SELKIE_WIREDTIGER_DIR");
    println!("cargo::rerun-if-changed=src/sys/layout.c");
    let directory = match env::var_os("SELKIE_WIREDTIGER_DIR") {
        Some(directory) => PathBuf::from(directory),
        None => built_by_script(),
    };
    let library = directory.join("lib/libwiredtiger.a");
    assert!(library.exists(), "{} is missing", library.display());
    println!("cargo::rerun-if-changed={}", library.display());

    // Compiles only if the bindings agree with this library's header.
    cc::Build::new()
        .file("src/sys/layout.c")
        .include(directory.join("include"))
        .warnings(true)
        .compile("selkie_wiredtiger_layout");

    println!("cargo::rustc-link-search=native={}", directory.join("lib").display());
    println!("cargo::rustc-link-lib=static=wiredtiger");
    println!("cargo::rustc-link-lib=lz4");
    println!("cargo::rustc-link-lib=zstd");
}

fn built_by_script() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/build-wiredtiger.sh");
    println!("cargo::rerun-if-changed={}", script.display());
    println!("cargo::rerun-if-env-changed=XDG_CACHE_HOME");
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.expect("neither XDG_CACHE_HOME nor HOME is set: set SELKIE_WIREDTIGER_DIR");
    let directory = cache.join("selkie/wiredtiger-11.3.1");
    let status = Command::new(&script).arg(&directory).status();
    let status = status.unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    assert!(status.success(), "{} failed: {status}", script.display());
    directory
}
