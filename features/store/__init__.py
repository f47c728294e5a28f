"""The feature store: versioned Delta tables, written by workers, committed by the flow."""
