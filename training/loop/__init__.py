"""The loop that every training goes through: what it does once, no kind of encoder or parser does again."""
