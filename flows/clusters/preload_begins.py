"""Imported first by the process that workers are copied from: turns garbage collection off during the imports.

Importing libraries leaves nothing to collect, and looking for it takes an eighth of the time.
"""

import gc

gc.disable()  # a forkserver preloads modules, not functions
