//! `ledger --selkie PROGRAM [--rounds N] [--clients N] [--seconds N] [--seed N] [--restart-limit SECONDS]`: kills the
//! server under load and compares what it holds afterwards with what its clients were told.

use std::process::ExitCode;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use selkie_test_support::ledger::{Ledger, LedgerError};
use selkie_test_support::server::{Kind, TestServer};

struct Settings {
    selkie: String,
    rounds: u64,
    clients: u64,
    seconds: u64,
    seed: u64,
    restart_limit: u64,
}

fn settings() -> Result<Settings, String> {
    let mut s = Settings { selkie: "./selkie".into(), rounds: 5, clients: 16, seconds: 5, seed: 1, restart_limit: 5 };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name}: {value} is no number"));
        match name.as_str() {
            "--selkie" => s.selkie = value,
            "--rounds" => s.rounds = number()?,
            "--clients" => s.clients = number()?,
            "--seconds" => s.seconds = number()?.max(1),
            "--seed" => s.seed = number()?,
            "--restart-limit" => s.restart_limit = number()?,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(s)
}

fn run(s: &Settings) -> Result<(), LedgerError> {
    let mut server = TestServer::start(Kind::Selkie((&s.selkie).into()), &[])?;
    let mut ledger = Ledger::create(&server, s.clients as usize, s.seed)?;
    let mut rng = StdRng::seed_from_u64(s.seed);
    for n in 1..=s.rounds {
        let work = Duration::from_millis(rng.random_range(300..=s.seconds * 1000));
        let round = ledger.round(&mut server, work)?;
        println!(
            "round {n}: killed after {work:?}, {} transfers acknowledged, all there; accepts connections after {:?}",
            round.acknowledged, round.restart
        );
        if round.restart > Duration::from_secs(s.restart_limit) {
            return Err(LedgerError::Wrong(format!("the restart took {:?}", round.restart)));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match settings().and_then(|s| run(&s).map_err(|e| e.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("ledger: {e}");
            ExitCode::FAILURE
        }
    }
}
