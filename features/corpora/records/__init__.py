"""The pinned records, one file a family of datasets."""
