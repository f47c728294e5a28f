"""Imported last by the process that workers are copied from: what exists now is never garbage.

Inspecting it would make each worker copy the memory that it shares with the others; `gc.freeze` prevents that.
"""

import gc

gc.freeze()
gc.enable()
