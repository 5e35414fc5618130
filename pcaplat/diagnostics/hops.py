"""What is doubtful about the times that nodes of the path wrote into packets."""

from collections.abc import Sequence

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import Capture
from pcaplat.model.files.hops import Hop, nodes_of, unit_of
from pcaplat.model.sampled import FileFacts


def check_hops(captures: Sequence[Capture], facts: Sequence[FileFacts]) -> list[Diagnostic]:
    """Say which nodes' times cannot be read.

    Args:
        captures: The files, and behind them what else the packets of these were read as.
        facts: What the first reading found of each file.
    """
    found = []
    for file, n_beyond, node in nodes_of(facts):
        name = captures[file].name
        if unit_of(node) is None:
            label = Hop(node.key, node.layout, "", 0, 0).label
            text = (
                f"{name}: {node.n:,} times of {label} are not used, because their unit does not "
                "show: by none does the node's clock alone run as the file's"
            )
            found.append(diagnose("telemetry-unread", None, text))
        if n_beyond:
            text = f"{name}: {n_beyond:,} times of further nodes are not used"
            found.append(diagnose("telemetry-unread", None, text))
    return list(dict.fromkeys(found))
