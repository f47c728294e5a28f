"""Imported first by the process that workers are copied from: garbage collection is off while it imports the rest.

Libraries leave nothing to collect when they are imported, and looking for it takes an eighth of the time.
"""

import gc

gc.disable()  # a forkserver can be told modules, not functions
