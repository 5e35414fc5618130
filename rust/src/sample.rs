//! The survey's reading: the same few packets at every point, and the facts about every file.
//!
//! Hash-based selection (RFC 5475 §6.2): a packet is taken if its identity is below a level. The
//! level falls until a file's share fits; the lowest level of all files then holds for all of them.

use crate::error::Result;
use crate::file::{Damage, Frame};
use crate::identity::{Identity, N_CLASSES, Prefixes, WHOLE, class, cut_bytes};
use crate::reading::{Progress, Reading, Seen, for_each_file, read_frames};
use crate::wire::Packet;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const TCP: i16 = 6;

/// One selected packet.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is recognised by.
    pub identity: Identity,
    /// Interface of the file.
    pub interface: u32,
    /// Frame number.
    pub frame: u64,
    /// The file's time.
    pub t_ns: i64,
    /// Tunnels around it.
    pub depth: u8,
    /// Innermost TTL.
    pub ttl: u8,
    /// Bytes of the TCP segment, header included; 0 for anything else.
    pub tcp_bytes: u32,
}

/// How a selected flow began at one file's interface.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Addresses, ports and protocol.
    pub flow: u64,
    /// Its two addresses.
    pub pair: u64,
    /// Time of its first packet here.
    pub first_t_ns: i64,
    /// That packet's source is the smaller address.
    pub first_toward: bool,
    /// The first packet was an opening SYN.
    pub opens: bool,
    /// Interface of the file.
    pub interface: u32,
}

/// Facts about one interface of one file.
#[derive(Clone, Debug)]
pub struct InterfaceFacts {
    /// Frames, also those that no filter passes.
    pub n_frames: u64,
    /// Frames that could not be decoded.
    pub n_undecoded: u64,
    /// Earliest stamp.
    pub first_t_ns: i64,
    /// Latest stamp.
    pub last_t_ns: i64,
    /// Largest step backwards from the latest stamp so far.
    pub disorder_ns: i64,
    /// The largest power of ten that divides every stamp, ns.
    pub observed_resolution_ns: i64,
    /// Link type.
    pub link: u16,
}

/// Facts about one file.
#[derive(Clone, Debug)]
pub struct FileFacts {
    /// By interface.
    pub interfaces: Vec<Option<InterfaceFacts>>,
    /// Name, declared resolution and drops, by interface.
    pub declared: Vec<crate::file::Interface>,
    /// Format name.
    pub format: &'static str,
    /// What was wrong with the file.
    pub damage: Vec<Damage>,
    /// The file ends in mid-record.
    pub is_truncated: bool,
}

/// What the survey's reading brings home.
#[derive(Debug)]
pub struct Sample {
    /// Per file: its selected packets, in file order.
    pub rows: Vec<Vec<Row>>,
    /// Per file: its selected flows.
    pub flows: Vec<Vec<Flow>>,
    /// Per file.
    pub facts: Vec<FileFacts>,
    /// The common prefixes found.
    pub prefixes: Prefixes,
    /// Identities up to this were selected; `u64::MAX` if all were.
    pub level: u64,
}

/// Reads all files and selects at most about `limit` packets, and as many flows, of each.
///
/// # Errors
/// A file cannot be opened or is no capture; the user interrupted.
pub fn sample(
    files: &[PathBuf],
    reading: &mut Reading,
    limit: usize,
    progress: &Progress,
) -> Result<Sample> {
    loop {
        let selections =
            for_each_file(files, progress, |_, path| select(path, reading, limit, progress))?;
        let mut prefixes = WHOLE;
        for selection in &selections {
            for (common, own) in prefixes.iter_mut().zip(selection.prefixes) {
                *common = own.min(*common);
            }
        }
        if prefixes == reading.prefixes {
            return Ok(together(selections, prefixes));
        }
        // Frames were cut: identities must be taken again, from the bytes that all of them have.
        reading.prefixes = prefixes;
    }
}

fn together(selections: Vec<Selection>, prefixes: Prefixes) -> Sample {
    let level = selections.iter().map(|one| one.level).min().unwrap_or(u64::MAX);
    let flow_level = selections.iter().map(|one| one.flow_level).min().unwrap_or(u64::MAX);
    let mut sample =
        Sample { rows: Vec::new(), flows: Vec::new(), facts: Vec::new(), prefixes, level };
    for mut one in selections {
        one.rows.retain(|row| row.identity.key <= level);
        one.flows.retain(|(key, _), _| *key <= flow_level);
        let mut flows: Vec<_> = one.flows.into_iter().collect();
        flows.sort_by_key(|(key, _)| *key);
        sample.rows.push(one.rows);
        sample.flows.push(flows.into_iter().map(|(_, flow)| flow).collect());
        sample.facts.extend(one.facts);
    }
    sample
}

struct Selection {
    limit: usize,
    level: u64,
    flow_level: u64,
    rows: Vec<Row>,
    flows: HashMap<(u64, u32), Flow>,
    prefixes: Prefixes,
    interfaces: Vec<Option<InterfaceFacts>>,
    facts: Option<FileFacts>,
}

fn select(path: &Path, reading: &Reading, limit: usize, progress: &Progress) -> Result<Selection> {
    let mut selection = Selection {
        limit,
        level: u64::MAX,
        flow_level: u64::MAX,
        rows: Vec::new(),
        flows: HashMap::new(),
        prefixes: [u32::MAX; N_CLASSES],
        interfaces: Vec::new(),
        facts: None,
    };
    let mut packet = Packet::new();
    let capture = read_frames(path, progress, |frame| {
        let seen = reading.see(frame, &mut packet);
        selection.count(frame, &seen);
        if let Seen::Packet(identity) = seen {
            selection.shorten_prefix(&packet);
            selection.consider(frame, &packet, identity);
        }
        Ok(())
    })?;
    selection.facts = Some(FileFacts {
        interfaces: std::mem::take(&mut selection.interfaces),
        declared: capture.interfaces().to_vec(),
        format: capture.format(),
        damage: capture.damage().to_vec(),
        is_truncated: capture.is_truncated(),
    });
    Ok(selection)
}

impl Selection {
    fn count(&mut self, frame: &Frame<'_>, seen: &Seen) {
        let index = frame.interface as usize;
        if index >= self.interfaces.len() {
            self.interfaces.resize(index + 1, None);
        }
        let Some(slot) = self.interfaces.get_mut(index) else { return };
        let facts = slot.get_or_insert_with(|| InterfaceFacts::new(frame));
        facts.n_frames += 1;
        facts.n_undecoded += u64::from(matches!(seen, Seen::Undecoded));
        if frame.has_time {
            facts.note_time(frame.t_ns);
        }
    }

    fn shorten_prefix(&mut self, packet: &Packet) {
        if let Some(captured) = cut_bytes(packet)
            && let Some(prefix) = self.prefixes.get_mut(class(packet))
        {
            *prefix = captured.min(*prefix);
        }
    }

    fn consider(&mut self, frame: &Frame<'_>, packet: &Packet, identity: Identity) {
        if identity.key <= self.level {
            self.rows.push(Row {
                identity,
                interface: frame.interface,
                frame: frame.number,
                t_ns: frame.t_ns,
                depth: packet.depth,
                ttl: packet.ttl,
                tcp_bytes: if packet.protocol == TCP { packet.transport_wire_bytes } else { 0 },
            });
            if self.rows.len() >= 2 * self.limit {
                self.thin();
            }
        }
        if identity.directed && identity.flow <= self.flow_level {
            self.note_flow(frame, identity);
        }
    }

    fn note_flow(&mut self, frame: &Frame<'_>, identity: Identity) {
        self.flows.entry((identity.flow, frame.interface)).or_insert(Flow {
            flow: identity.flow,
            pair: identity.pair,
            first_t_ns: frame.t_ns,
            first_toward: identity.toward,
            opens: identity.opens,
            interface: frame.interface,
        });
        while self.flows.len() > self.limit {
            self.flow_level /= 2;
            let level = self.flow_level;
            self.flows.retain(|(key, _), _| *key <= level);
        }
    }

    /// Lowers the level until the rows fit. Keys that repeat without end cannot be thinned by level:
    /// a few of each are enough to know that they repeat.
    fn thin(&mut self) {
        const ENOUGH_REPEATS: u32 = 16;
        let mut n_of_key: HashMap<u64, u32> = HashMap::new();
        self.rows.retain(|row| {
            let n = n_of_key.entry(row.identity.key).or_default();
            *n += 1;
            *n <= ENOUGH_REPEATS
        });
        while self.rows.len() > self.limit {
            self.level /= 2;
            let level = self.level;
            self.rows.retain(|row| row.identity.key <= level);
        }
    }
}

impl InterfaceFacts {
    fn new(frame: &Frame<'_>) -> Self {
        Self {
            n_frames: 0,
            n_undecoded: 0,
            first_t_ns: i64::MAX,
            last_t_ns: i64::MIN,
            disorder_ns: 0,
            observed_resolution_ns: 1_000_000_000,
            link: frame.link,
        }
    }

    fn note_time(&mut self, t_ns: i64) {
        while self.observed_resolution_ns > 1 && t_ns % self.observed_resolution_ns != 0 {
            self.observed_resolution_ns /= 10;
        }
        self.first_t_ns = self.first_t_ns.min(t_ns);
        if t_ns >= self.last_t_ns {
            self.last_t_ns = t_ns;
        } else {
            self.disorder_ns = self.disorder_ns.max(self.last_t_ns.saturating_sub(t_ns));
        }
    }
}
