//! The `selkie` program: picks the subcommand.

use std::process::ExitCode;

use selkie_server::options::{self, Parsed};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next();
    match command.as_ref().and_then(|c| c.to_str()) {
        Some("serve") => serve(arguments.collect()),
        Some("--help" | "-?" | "-h" | "help") => {
            println!("{}", options::USAGE);
            ExitCode::SUCCESS
        }
        Some("--version" | "-V" | "version") => {
            println!("{}", options::version_line());
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprintln!("selkie: unknown command '{other}'; there is: selkie serve (see selkie --help)");
            ExitCode::from(options::EXIT_UNKNOWN_OPTION)
        }
        None => {
            eprintln!("{}", options::USAGE);
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: Vec<std::ffi::OsString>) -> ExitCode {
    let options = match options::parse(arguments) {
        Ok(Parsed::Serve(options)) => *options,
        Ok(Parsed::Print(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(e) => {
            eprintln!("selkie: {e}");
            return ExitCode::from(e.exit_status());
        }
    };
    match selkie_server::serve::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            tracing::error!("{e}");
            tracing::error!("Aborting");
            ExitCode::FAILURE
        }
    }
}
