"""Several capture points in one file: by what its frames are divided."""
