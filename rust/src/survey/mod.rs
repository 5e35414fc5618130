//! The survey, pass 1: the same few packets at every point, and the facts about every file.
//!
//! Hash-based selection (RFC 5475 §6.2): a packet is taken if its identity without addresses is at
//! most a threshold. The threshold falls until a file's share fits; the lowest one of all files then
//! holds for all of them.

pub(crate) mod checksums;
mod dialogue;
mod extents;
mod fragmented;
mod hash_sample;
mod hidden_tunnels;
mod hop_times;
mod interface_facts;
mod mirror_gaps;
mod mirror_queue;
mod selection;
mod stamp_order;
pub mod translation;

pub use checksums::Checksums;
pub use dialogue::Dialogue;
use fragmented::Fragmented;
use hash_sample::HashSample;
pub use hash_sample::SampledPacket;
pub use hidden_tunnels::Hidden;
pub use hop_times::{HopTimes, NodeTimes};
pub use mirror_gaps::{Gap, Mirrored, Mirrors};
pub use mirror_queue::{Queue, RATES};
pub use stamp_order::StampOrder;

use crate::base::error::Result;
use crate::file::{Damage, FileExtent, RecordPlace};
use crate::identity::{Prefixes, WHOLE};
use crate::reading::fragments::FragmentCounts;
use crate::reading::{Progress, Reading, for_each_file};
use crate::stamp::FileStamps;
pub use extents::{ExtentSelection, SurveyRounds, seekable_bytes, survey_extent};
use selection::{Limits, SelectedFlows, Selection, select};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

/// How a selected flow began at one file's interface.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FlowStart {
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
    /// What its two directions say of each other.
    pub dialogue: Dialogue,
}

/// Facts about one interface of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InterfaceFacts {
    /// Frames, also those that no filter passes.
    pub n_frames: u64,
    /// Frames that could not be decoded.
    pub n_undecoded: u64,
    /// Those of them that a snap length cut within a header.
    pub n_cut: u64,
    /// Earliest stamp of the frames that could be decoded, of all if none could.
    pub first_t_ns: i64,
    /// Latest stamp of these.
    pub last_t_ns: i64,
    /// Largest step backwards from the latest stamp of these so far.
    pub disorder_ns: i64,
    /// At least one frame could be decoded.
    pub is_of_decoded: bool,
    /// The largest power of ten that divides every stamp, ns.
    pub observed_resolution_ns: i64,
    /// Link type.
    pub link: u16,
    /// The longest frame, without its check sequence.
    pub longest_bytes: u32,
    /// The stamps that were found in its frames.
    pub stamps: Option<StampFacts>,
    /// How its stamps follow one another in the file.
    pub order: StampOrder,
    /// Whether both directions stand in one queue.
    pub queue: Queue,
    /// Packets that hold others which were not looked for.
    pub hidden: Hidden,
    /// Whether a host left its checksums to a card.
    pub checksums: Checksums,
    /// Mirror sessions that number their frames.
    pub mirrors: Mirrors,
    /// Times that nodes of the path wrote into packets.
    pub hop_times: HopTimes,
}

/// Facts about the stamps of one interface's frames.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StampFacts {
    /// What they are called.
    pub name: Cow<'static, str>,
    /// Finest step, ns.
    pub resolution_ns: f64,
    /// `utc`, `tai` or `unknown`, by the distance from the file's time.
    pub timescale: Cow<'static, str>,
    /// What they usually differ from the file's time.
    pub offset_ns: i64,
    /// Frames that have one.
    pub n_stamped: u64,
    /// Frames whose stamp is damaged.
    pub n_damaged: u64,
    /// Frames that have none.
    pub n_without: u64,
    /// False where too few frames have one, so that the file's time is used.
    pub is_used: bool,
}

/// Facts about one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// By interface.
    pub interfaces: Vec<Option<InterfaceFacts>>,
    /// Name, declared resolution and drops, by interface.
    pub declared: Vec<crate::file::Interface>,
    /// Format name.
    pub format: Cow<'static, str>,
    /// Of a digest, the check value of the key it was made with.
    pub digest_key: Option<u64>,
    /// What was wrong with the file.
    pub damage: Vec<Damage>,
    /// The file ends in mid-record.
    pub is_truncated: bool,
    /// Layer-4 bytes that all frames of a class have.
    pub prefixes: Prefixes,
    /// What came of tunnel packets in fragments.
    pub fragments: FragmentCounts,
    /// Places between records where reading may begin, the first some way behind the file's beginning; none
    /// where what comes behind cannot be read without what came before.
    pub places: Vec<RecordPlace>,
}

/// What the survey's reading brings home.
#[derive(Debug, Default)]
pub struct Sample {
    /// Per file: its selected packets, in file order.
    pub rows: Vec<Vec<SampledPacket>>,
    /// Per file: further ones, selected as those are, so that more neighbours are known of both;
    /// none where no file's sample has a packet twice, for neighbours tell equal packets apart.
    pub more: Vec<Vec<SampledPacket>>,
    /// Per file: packets selected by their content alone.
    pub alike: Vec<Vec<SampledPacket>>,
    /// Per file: its selected flows.
    pub flows: Vec<Vec<FlowStart>>,
    /// Per file.
    pub facts: Vec<FileFacts>,
    /// Address pairs with packets in fragments, ascending: bytes of IP payload in the shortest
    /// fragment that another follows.
    pub fragmented: Vec<(u64, u32)>,
    /// The common prefixes found.
    pub prefixes: Prefixes,
    /// Identities up to this were selected; `u64::MAX` if all were.
    pub threshold: u64,
    /// What was found of the files' stamps, and is used.
    pub stamps: Vec<FileStamps>,
}

/// Reads all files and selects at most about `limit` packets of each point, and as many flows of each
/// file; `n_parts` says of how many files a file's point is.
///
/// # Errors
/// A file cannot be opened or is no capture; the user interrupted.
pub fn sample(
    files: &[PathBuf],
    reading: &mut Reading,
    limit: usize,
    n_parts: &[usize],
    progress: &Progress,
) -> Result<Sample> {
    reading.find_stamps(files, progress)?;
    let mut unused = Vec::new();
    loop {
        let selections = for_each_file(files, progress, |file, path| {
            let n_parts = n_parts.get(file).copied().unwrap_or(1);
            let limits = Limits::of_file(limit, n_parts, files.len());
            select((file, path), &FileExtent::ALL, reading, limits, progress)
        })?;
        if let Some(sample) = settle(selections, reading, &mut unused) {
            return Ok(sample);
        }
    }
}

/// What was selected of all files; `None` where they must be read again, because what they showed changes how
/// they are read.
fn settle(
    mut selections: Vec<Selection>,
    reading: &mut Reading,
    unused: &mut Vec<Unused>,
) -> Option<Sample> {
    let n_known = unused.len();
    forget_rare_stamps(&selections, reading, unused);
    if unused.len() > n_known {
        return None;
    }
    let prefixes = common_prefixes(&selections);
    if prefixes != reading.prefixes {
        // Frames were cut: identities must be taken again, from the bytes that all of them have.
        reading.prefixes = prefixes;
        return None;
    }
    tell_unused(&mut selections, unused);
    Some(Sample {
        stamps: reading.all_stamps(),
        ..together(selections, prefixes)
    })
}

/// Of each class of packets the fewest layer-4 bytes that any file has of all of them.
fn common_prefixes(selections: &[Selection]) -> Prefixes {
    let mut prefixes = WHOLE;
    for selection in selections {
        for (common, own) in prefixes.iter_mut().zip(selection.prefixes) {
            *common = own.min(*common);
        }
    }
    prefixes
}

/// Stamps that were found but are not used: file, interface, facts.
type Unused = (usize, usize, StampFacts);

/// Where most frames lack the stamp that was found in others, one clock for all of them is better
/// than none for most: the file's. A stamp that the user named is used all the same.
fn forget_rare_stamps(selections: &[Selection], reading: &mut Reading, unused: &mut Vec<Unused>) {
    for (file, selection) in selections.iter().enumerate() {
        let facts = selection.facts.iter().flat_map(|facts| &facts.interfaces);
        for (interface, facts) in facts.enumerate() {
            let stamps = facts.as_ref().and_then(|facts| facts.stamps.clone());
            if let Some(stamps) = stamps
                && stamps.n_stamped < stamps.n_without + stamps.n_damaged
                && reading.forget_stamps(file, interface)
            {
                let is_used = false;
                unused.push((file, interface, StampFacts { is_used, ..stamps }));
            }
        }
    }
}

fn tell_unused(selections: &mut [Selection], unused: &[Unused]) {
    for (file, interface, stamps) in unused {
        let facts = selections.get_mut(*file).and_then(|selection| {
            selection
                .facts
                .as_mut()?
                .interfaces
                .get_mut(*interface)?
                .as_mut()
        });
        if let Some(facts) = facts {
            facts.stamps = Some(stamps.clone());
        }
    }
}

fn together(mut selections: Vec<Selection>, prefixes: Prefixes) -> Sample {
    let thresholds = selections.iter_mut().map(Selection::threshold);
    let threshold = thresholds.min().unwrap_or(u64::MAX);
    let lowest = |threshold: fn(&Selection) -> u64| {
        let thresholds = selections.iter().map(threshold);
        thresholds.min().unwrap_or(u64::MAX)
    };
    let more_threshold = lowest(|one| one.sample.threshold);
    let alike_threshold = lowest(|one| one.alike.threshold);
    let flow_threshold = lowest(|one| one.flow_threshold);
    let mut samples: Vec<_> = selections.iter_mut().map(|one| &mut one.sample).collect();
    HashSample::leave_out_together(&mut samples);
    let mut sample = Sample {
        prefixes,
        threshold,
        ..Sample::default()
    };
    let mut fragmented = Fragmented::default();
    for one in selections {
        fragmented.join(&one.fragmented);
        sample.flows.push(flows_at_most(one.flows, flow_threshold));
        sample
            .more
            .push(one.sample.between(threshold, more_threshold));
        sample.rows.push(one.sample.at_most(threshold));
        sample.alike.push(one.alike.at_most(alike_threshold));
        sample.facts.extend(one.facts);
    }
    if !sample.rows.iter().map(Vec::as_slice).any(has_equal) {
        sample.more.iter_mut().for_each(Vec::clear);
    }
    sample.fragmented = fragmented.pairs();
    sample
}

/// The flows whose hash is at most a threshold, in its order.
fn flows_at_most(mut flows: SelectedFlows, threshold: u64) -> Vec<FlowStart> {
    flows.retain(|(key, _), _| *key <= threshold);
    let mut flows: Vec<_> = flows.into_iter().collect();
    flows.sort_by_key(|(key, _)| *key);
    flows.into_iter().map(|(_, flow)| flow).collect()
}

/// Whether a packet is there twice, as on both sides of a translator in one file.
fn has_equal(rows: &[SampledPacket]) -> bool {
    let mut keys: Vec<_> = rows.iter().map(|row| row.unaddressed).collect();
    keys.sort_unstable();
    !keys.is_sorted_by(|one, next| one < next)
}
