"""Capture-point profiles: what is known of a platform's places to capture at.

A profile is a TOML file in capture_points/; docs/capture/points.md describes its keys. What it says
of captures by their names is in `pcaplat.points.placing`.
"""

from pcaplat.points.loading import load_profile, profile_names
from pcaplat.points.schema import Clock, Encapsulation, Profile, ProfilePoint

__all__ = ["Clock", "Encapsulation", "Profile", "ProfilePoint", "load_profile", "profile_names"]
