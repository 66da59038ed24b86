//! Global transaction ids, lists of them, and the state of a log by replication domain.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// MariaDB's global transaction id: `domain-server-sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gtid {
    /// Replication domain: transactions of different domains are independent.
    pub domain_id: u32,
    /// The server that made the transaction first.
    pub server_id: u32,
    /// Rises by one with each transaction of the domain.
    pub seq_no: u64,
}

impl Gtid {
    /// From its three numbers.
    pub const fn new(domain_id: u32, server_id: u32, seq_no: u64) -> Gtid {
        Gtid {
            domain_id,
            server_id,
            seq_no,
        }
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain_id, self.server_id, self.seq_no)
    }
}

/// Text that is not a GTID or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GtidParseError {
    /// Not `number-number-number`.
    #[error("could not parse GTID list")]
    Syntax,
    /// A list with two ids of one domain.
    #[error("GTID {0} and {1} conflict (duplicate domain id {domain})", domain = .0.domain_id)]
    DuplicateDomain(Gtid, Gtid),
}

impl FromStr for Gtid {
    type Err = GtidParseError;

    fn from_str(s: &str) -> Result<Gtid, GtidParseError> {
        fn number<T: FromStr>(part: Option<&str>) -> Result<T, GtidParseError> {
            let part = part.ok_or(GtidParseError::Syntax)?;
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(GtidParseError::Syntax);
            }
            part.parse().map_err(|_| GtidParseError::Syntax)
        }
        let mut parts = s.split('-');
        let gtid = Gtid {
            domain_id: number(parts.next())?,
            server_id: number(parts.next())?,
            seq_no: number(parts.next())?,
        };
        if parts.next().is_some() {
            Err(GtidParseError::Syntax)
        } else {
            Ok(gtid)
        }
    }
}

/// A position by GTIDs: at most one id for each domain (as in `gtid_slave_pos`).
/// Written as ids with commas between them, in the order of domains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GtidList {
    by_domain: BTreeMap<u32, Gtid>,
}

impl GtidList {
    /// The list without ids.
    pub fn new() -> GtidList {
        GtidList::default()
    }

    /// The id of a domain.
    pub fn get(&self, domain_id: u32) -> Option<Gtid> {
        self.by_domain.get(&domain_id).copied()
    }

    /// Sets the id of its domain; gives the one that was there.
    pub fn set(&mut self, gtid: Gtid) -> Option<Gtid> {
        self.by_domain.insert(gtid.domain_id, gtid)
    }

    /// Removes a domain.
    pub fn remove(&mut self, domain_id: u32) -> Option<Gtid> {
        self.by_domain.remove(&domain_id)
    }

    /// The ids, by domain.
    pub fn iter(&self) -> impl Iterator<Item = Gtid> + '_ {
        self.by_domain.values().copied()
    }

    /// Number of domains.
    pub fn len(&self) -> usize {
        self.by_domain.len()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.by_domain.is_empty()
    }

    /// Whether each domain of `other` is here with at least its sequence number: everything up to
    /// `other` was done by one who stands here.
    pub fn covers(&self, other: &GtidList) -> bool {
        other.iter().all(|g| {
            self.get(g.domain_id)
                .is_some_and(|mine| mine.seq_no >= g.seq_no)
        })
    }
}

impl FromIterator<Gtid> for GtidList {
    /// The last id of each domain wins.
    fn from_iter<T: IntoIterator<Item = Gtid>>(iter: T) -> Self {
        GtidList {
            by_domain: iter.into_iter().map(|g| (g.domain_id, g)).collect(),
        }
    }
}

impl FromStr for GtidList {
    type Err = GtidParseError;

    /// Parses `0-1-100,1-2-3`, spaces around ids allowed; the empty text is the empty list.
    fn from_str(s: &str) -> Result<GtidList, GtidParseError> {
        let mut list = GtidList::new();
        if s.trim().is_empty() {
            return Ok(list);
        }
        for part in s.split(',') {
            let gtid: Gtid = part.trim().parse()?;
            if let Some(earlier) = list.set(gtid) {
                return Err(GtidParseError::DuplicateDomain(earlier, gtid));
            }
        }
        Ok(list)
    }
}

impl fmt::Display for GtidList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, gtid) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            gtid.fmt(f)?;
        }
        Ok(())
    }
}

/// Why `gtid_strict_mode` refuses a GTID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "An attempt was made to binlog GTID {offered} which would create an out-of-order sequence number with existing GTID {existing}, and gtid strict mode is enabled"
)]
pub struct OutOfOrderGtid {
    /// What was to be written.
    pub offered: Gtid,
    /// The last one of the domain.
    pub existing: Gtid,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct DomainState {
    /// The last id of each server, sequence numbers by server.
    by_server: BTreeMap<u32, u64>,
    /// The server of the last id written.
    last_server: u32,
    /// The highest sequence number, from which the next one is counted.
    seq_no: u64,
}

/// Which GTIDs a log holds: per domain the last id of each server, and the last one of all
/// (`gtid_binlog_state` and `gtid_binlog_pos`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BinlogState {
    domains: BTreeMap<u32, DomainState>,
}

impl BinlogState {
    /// Of a log without transactions.
    pub fn new() -> BinlogState {
        BinlogState::default()
    }

    /// From the ids of a Gtid_list event: those of one domain follow one another, the last one
    /// written comes last.
    pub fn from_gtids(gtids: impl IntoIterator<Item = Gtid>) -> BinlogState {
        let mut state = BinlogState::new();
        for gtid in gtids {
            state.update(gtid);
        }
        state
    }

    /// Notes a GTID that was written.
    pub fn update(&mut self, gtid: Gtid) {
        let domain = self.domains.entry(gtid.domain_id).or_default();
        domain.by_server.insert(gtid.server_id, gtid.seq_no);
        domain.last_server = gtid.server_id;
        domain.seq_no = domain.seq_no.max(gtid.seq_no);
    }

    /// The sequence number that a new transaction of the domain gets.
    pub fn next_seq_no(&self, domain_id: u32) -> u64 {
        self.domains
            .get(&domain_id)
            .map_or(1, |d| d.seq_no.saturating_add(1))
    }

    /// The last GTID written in a domain.
    pub fn last(&self, domain_id: u32) -> Option<Gtid> {
        self.domains.get(&domain_id).and_then(|d| d.last(domain_id))
    }

    /// The last GTID of a server in a domain.
    pub fn last_of_server(&self, domain_id: u32, server_id: u32) -> Option<Gtid> {
        let seq_no = *self.domains.get(&domain_id)?.by_server.get(&server_id)?;
        Some(Gtid {
            domain_id,
            server_id,
            seq_no,
        })
    }

    /// Whether strict mode lets the GTID be written: its number must be above all of its domain.
    pub fn check_strict(&self, gtid: Gtid) -> Result<(), OutOfOrderGtid> {
        match self.domains.get(&gtid.domain_id) {
            Some(d) if gtid.seq_no <= d.seq_no => {
                let existing = d.last(gtid.domain_id).unwrap_or(gtid);
                Err(OutOfOrderGtid {
                    offered: gtid,
                    existing,
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether the state includes the GTID (by server and number).
    pub fn contains(&self, gtid: Gtid) -> bool {
        self.last_of_server(gtid.domain_id, gtid.server_id)
            .is_some_and(|last| last.seq_no >= gtid.seq_no)
    }

    /// The last GTID of each domain (`gtid_binlog_pos`).
    pub fn position(&self) -> GtidList {
        self.domains
            .iter()
            .filter_map(|(id, d)| d.last(*id))
            .collect()
    }

    /// All ids as a Gtid_list event holds them (`gtid_binlog_state`): by domain, each domain's last one last.
    pub fn gtids(&self) -> Vec<Gtid> {
        let mut out = Vec::new();
        for (&domain_id, d) in &self.domains {
            let others = d
                .by_server
                .iter()
                .filter(|(server, _)| **server != d.last_server);
            out.extend(others.map(|(&server_id, &seq_no)| Gtid {
                domain_id,
                server_id,
                seq_no,
            }));
            out.extend(d.last(domain_id));
        }
        out
    }

    /// Forgets domains (FLUSH BINARY LOGS DELETE_DOMAIN_ID).
    pub fn remove_domain(&mut self, domain_id: u32) -> bool {
        self.domains.remove(&domain_id).is_some()
    }

    pub(crate) fn restore(&mut self, domain_id: u32, saved: Option<SavedDomain>) {
        match saved {
            Some(SavedDomain(d)) => self.domains.insert(domain_id, d),
            None => self.domains.remove(&domain_id),
        };
    }

    pub(crate) fn save(&self, domain_id: u32) -> Option<SavedDomain> {
        self.domains.get(&domain_id).cloned().map(SavedDomain)
    }
}

/// A domain's state before a group was numbered.
pub(crate) struct SavedDomain(DomainState);

impl DomainState {
    fn last(&self, domain_id: u32) -> Option<Gtid> {
        let seq_no = *self.by_server.get(&self.last_server)?;
        Some(Gtid {
            domain_id,
            server_id: self.last_server,
            seq_no,
        })
    }
}

impl fmt::Display for BinlogState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, gtid) in self.gtids().iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            gtid.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_and_display() {
        let list: GtidList = "1-2-3, 0-1-100".parse().unwrap();
        assert_eq!(list.to_string(), "0-1-100,1-2-3");
        assert_eq!("".parse::<GtidList>().unwrap().to_string(), "");
        for bad in [
            "0-1",
            "0-1-",
            "0-1-2-3",
            "a-1-2",
            "0-1-2,",
            "+0-1-2",
            "4294967296-1-1",
            "0-1-18446744073709551616",
        ] {
            assert_eq!(
                bad.parse::<GtidList>(),
                Err(GtidParseError::Syntax),
                "{bad}"
            );
        }
        assert!(matches!(
            "0-1-1,0-2-2".parse::<GtidList>(),
            Err(GtidParseError::DuplicateDomain(..))
        ));
    }

    #[test]
    fn state_keeps_the_last_of_each_server() {
        let mut s = BinlogState::new();
        assert_eq!(s.next_seq_no(0), 1);
        for g in [
            Gtid::new(0, 1, 1),
            Gtid::new(0, 2, 2),
            Gtid::new(0, 1, 3),
            Gtid::new(5, 9, 7),
        ] {
            assert_eq!(s.check_strict(g), Ok(()));
            s.update(g);
        }
        assert_eq!(s.to_string(), "0-2-2,0-1-3,5-9-7");
        assert_eq!(s.position().to_string(), "0-1-3,5-9-7");
        assert_eq!(s.next_seq_no(0), 4);
        assert!(s.contains(Gtid::new(0, 2, 2)) && !s.contains(Gtid::new(0, 2, 3)));
        assert_eq!(
            s.check_strict(Gtid::new(0, 1, 3)).unwrap_err().existing,
            Gtid::new(0, 1, 3)
        );
        assert_eq!(BinlogState::from_gtids(s.gtids()), s);
    }

    #[test]
    fn covers() {
        let a: GtidList = "0-1-5,1-1-3".parse().unwrap();
        assert!(a.covers(&"0-2-5".parse().unwrap()) && !a.covers(&"2-1-1".parse().unwrap()));
    }
}
