"""Trainings and evaluations from outside: what they read, whether they are done, the process they run in."""
