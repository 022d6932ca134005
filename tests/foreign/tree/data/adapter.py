"""Another harness's adapter. Reading this tree must never import it: importing writes a file."""

from pathlib import Path

Path(__file__).with_name("ADAPTER_RAN").write_text("the adapter was imported\n")


def score(output: str, reference: str) -> dict[str, float]:
    """Return whether the output is the reference."""
    return {"correct": float(output == reference)}
