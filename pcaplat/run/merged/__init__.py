"""What merged.pcapng says besides the frames: of each point, and of each frame."""
