"""What every layer stands on: errors, files, locks, pages, numbers in words. It knows nothing of sentences."""
