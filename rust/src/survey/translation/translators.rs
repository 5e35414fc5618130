//! Translators: addresses of which many flows are translated between two points.

use super::moved_flow::MovedFlow;
use super::session::Session;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Of two points the first or the second, and an address there.
type Translated = ([u16; 2], bool, IpAddr);

/// By address, how many sessions give it another one, or another port.
#[derive(Debug, Default)]
pub(super) struct Translators(BTreeMap<Translated, usize>);

impl Translators {
    pub(super) fn of(sessions: &[Session]) -> Self {
        let mut n_of = BTreeMap::new();
        let flows = sessions.iter().map(MovedFlow::of);
        for address in flows.flat_map(|one| translated(&one)).flatten() {
            *n_of.entry(address).or_default() += 1;
        }
        Self(n_of)
    }

    /// Whether addresses here and there are those of so many sessions or more: of each end that is translated, here or
    /// there.
    pub(super) fn explain(&self, seen: &MovedFlow, n_least: usize) -> bool {
        let is_known = |one: &Translated| self.0.get(one).is_some_and(|n| *n >= n_least);
        let mut ends = translated(seen).peekable();
        ends.peek().is_some() && ends.all(|end| end.iter().any(is_known))
    }
}

/// Each end that is translated: its addresses here and there.
fn translated(seen: &MovedFlow) -> impl Iterator<Item = [Translated; 2]> + use<> {
    let (places, [here, there]) = (seen.places, seen.addresses);
    let ends = [(here.src, there.src), (here.dst, there.dst)].into_iter();
    let ends = ends.filter(|(here, there)| here != there);
    ends.map(move |(here, there)| [(places, false, here.0), (places, true, there.0)])
}
