"""Reports: one file per format, all from the one result stream."""
