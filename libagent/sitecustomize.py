# SPDX-License-Identifier: GPL-2.0-or-later
"""Names Python functions to OProfile. Python imports this module at its start where
its folder is in PYTHONPATH, as "operf COMMAND" sets it. After that all is as if this
file were not there: its folder is not in sys.path, and a sitecustomize that this one
hides is imported. All versions of Python can read it."""

import sys


def name_functions():
    if sys.version_info >= (3, 14):
        if not sys.is_stack_trampoline_active():
            sys.activate_stack_trampoline("perf")
    elif sys.version_info >= (3, 9):
        import python_oprofile

        python_oprofile.start()


# A program goes on without names where it cannot have them.
try:
    name_functions()
except Exception:
    pass
folder = __file__.rpartition("/")[0]
sys.path[:] = [entry for entry in sys.path if entry != folder]
del sys.modules["sitecustomize"]
# It ends with the error of a missing module where there is none, which Python
# expects of this name.
import sitecustomize
