"""The pinned records, one file per family of datasets."""
