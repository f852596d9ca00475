"""The opcodes of pickle that a snapshot has no use for, by the names that Python's `pickletools` gives them."""

from __future__ import annotations

REFUSED = {
    ord(opcode): name
    for opcode, name in {
        "c": "GLOBAL", "\x93": "STACK_GLOBAL", "R": "REDUCE", "b": "BUILD", "i": "INST", "o": "OBJ", "\x81": "NEWOBJ",
        "\x92": "NEWOBJ_EX", "P": "PERSID", "Q": "BINPERSID", "\x82": "EXT1", "\x83": "EXT2", "\x84": "EXT4",
        "\x97": "NEXT_BUFFER", "\x98": "READONLY_BUFFER", "\x96": "BYTEARRAY8", "\x8f": "EMPTY_SET", "\x90": "ADDITEMS",
        "\x91": "FROZENSET", "S": "STRING", "T": "BINSTRING", "U": "SHORT_BINSTRING", "B": "BINBYTES", "C": "SHORT_BINBYTES",
        "\x8e": "BINBYTES8",
    }.items()
}  # fmt: skip
"""What imports, calls or makes objects, and kinds of values that torch does not write; by their bytes."""
