"""Imported last by the process that workers are copied from: what is there now is never garbage.

Looking at it would have each worker copy the memory that it shares with the others, which `gc.freeze` is made for.
"""

import gc

gc.freeze()
gc.enable()
