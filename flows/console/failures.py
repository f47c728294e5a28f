"""What a user reads when a command fails: one sentence per error, and a traceback in a file where it may help.

FacetflowError           its own sentence
usage error of click     its sentence, and the help of the command that it is about
error of the file system what, which file, what to do; wherever in the program it came from
package not installed    which, and how to install it: each command needs other ones
text that is not UTF-8   the same, but Python does not say in which file: the traceback does
anything else            "Unexpected …", and the file with the traceback
"""

import errno
import os
import traceback

import click

from features.core.errors import FacetflowError
from features.core.faults import FileSystem, TextEncoding, Unexpected, Usage
from features.core.file_errors import advice, system_number
from features.core.libraries import not_installed
from flows.server.passwords import without_passwords
from flows.terminal import detail, keep_traceback


def fault_of(error: BaseException) -> FacetflowError:
    """Return the fault, with code and sentence, for an error that ended a command."""
    if isinstance(error, FacetflowError):
        return error
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        said = error.format_message().removesuffix(".")  # the sentence goes on
        return Usage(said + (f" (see {context.command_path} --help)" if context is not None else ""))
    if sentence := _file_system_sentence(error):
        detail(without_passwords("".join(traceback.format_exception(error)).rstrip()))
        return FileSystem(sentence)
    if isinstance(error, UnicodeEncodeError | UnicodeDecodeError):
        return TextEncoding(_encoding_sentence(error))
    if isinstance(error, ModuleNotFoundError) and (missing := not_installed(error)) is not None:
        return missing
    reason = str(error).strip().splitlines()
    return Unexpected(f"Unexpected {type(error).__name__}{f': {reason[0]}' if reason else ''}{_traceback_of(error)}.")


def _encoding_sentence(error: UnicodeEncodeError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"An input file is not UTF-8 text (byte {byte:#04x}): save it as UTF-8{_traceback_of(error)}."
    character = error.object[error.start]
    if 0xDC80 <= ord(character) <= 0xDCFF:  # how Python represents a byte of an argument or a path that is not UTF-8
        byte = ord(character) - 0xDC00
        return f"The byte {byte:#04x} in an argument or in the name of a folder is not UTF-8: give names in UTF-8."
    return f"The output is written as {error.encoding}, which has no {character!r}: set PYTHONIOENCODING=utf-8."


def _file_system_sentence(error: BaseException) -> str | None:
    """Return the sentence for an error of the file system, None for any other, such as one of the network."""
    remedy = advice(error)
    if remedy is None:
        return None
    if system_number(error) == errno.ENOMEM:
        return f"The system refuses more: {remedy}{_traceback_of(error)}."
    if (name := getattr(error, "filename", None)) is not None:
        return f"{os.fsdecode(name)!r} cannot be used: {remedy}."
    # A write error does not name the file; an error of a Rust library, and that of a loop of links, do in their text.
    bare = getattr(error, "strerror", None) == os.strerror(getattr(error, "errno", None) or 0)
    text = "" if bare else f" ({str(error).strip().partition(chr(10))[0]})"
    what = "The working folder" if bare and isinstance(error, FileNotFoundError) else "A file"  # deleted beneath us
    return f"{what} cannot be used{text}: {remedy}{_traceback_of(error)}."


def _traceback_of(error: BaseException) -> str:
    """Write the traceback to its own file and return the words that name it; none if the disk is full."""
    try:
        return f"; the traceback is in {keep_traceback(without_passwords(''.join(traceback.format_exception(error))))}"
    except OSError:
        return ""
