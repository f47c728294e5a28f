"""Removal of what nobody needs: old builds, trainings and releases, and what killed processes left behind."""
