//! Components of a host that a tracer names: each is an interface of the file, all on one clock.

use super::Interface;
use super::findings::Findings;

/// Only hostile files have more.
const MAX_COMPONENTS: usize = 512;
pub(super) const TOO_MANY: &str = "no more than 512 components of one file are read";

/// Components by name, in the order in which they came.
pub(super) struct Components {
    resolution_ns: f64,
    names: Vec<String>,
}

impl Components {
    /// None yet; their times have this resolution.
    pub(super) fn new(resolution_ns: f64) -> Self {
        Self {
            resolution_ns,
            names: Vec::new(),
        }
    }

    pub(super) fn name(&self, interface: u32) -> Option<&str> {
        self.names.get(interface as usize).map(String::as_str)
    }

    /// The interface that a component is; `None` where there are too many.
    pub(super) fn interface(
        &mut self,
        name: &str,
        link: u16,
        findings: &mut Findings,
    ) -> Option<u32> {
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or(self.names.len());
        if index >= MAX_COMPONENTS {
            return None;
        }
        if known.is_none() {
            findings.interfaces.push(Interface {
                name: Some(name.to_owned()),
                link,
                resolution_ns: self.resolution_ns,
                clock: Some(0),
                ..Interface::default()
            });
            self.names.push(name.to_owned());
        }
        u32::try_from(index).ok()
    }
}
