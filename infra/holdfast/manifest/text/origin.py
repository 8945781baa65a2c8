"""Where each value of a manifest was written.

An `Origin` is a tree parallel to the data: it survives merging, so that a value which a stack
overrides is reported at its line in the stack's file.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.errors import SourceLocation
from holdfast.kube.paths import Segment


@dataclass(slots=True, eq=False)
class Origin:
    """Place of one value, and of its key when it stands in a mapping; lines and columns from 1.

    Not frozen only because freezing would double the time to read a file; nobody changes one.
    """

    file: str
    line: int
    column: int
    key_line: int = 0
    key_column: int = 0
    children: "dict[str, Origin] | list[Origin] | None" = None
    written: str = ""
    """Source text of an unquoted number, word or null; empty for text and collections."""

    @property
    def value_location(self) -> SourceLocation:
        """Where the value begins."""
        return SourceLocation(self.file, self.line, self.column)

    @property
    def key_location(self) -> SourceLocation:
        """Where the key begins; the value where there is no key."""
        if not self.key_line:
            return self.value_location
        return SourceLocation(self.file, self.key_line, self.key_column)

    def child(self, part: Segment) -> "Origin | None":
        """Origin of an entry, or None where the file has none."""
        children = self.children
        if isinstance(children, dict):
            return children.get(part) if isinstance(part, str) else None
        if isinstance(children, list) and isinstance(part, int) and part < len(children):
            return children[part]
        return None

    def nearest(self, path: Iterable[Segment]) -> "Origin":
        """Origin of a value, or of the closest ancestor that the file holds."""
        here = self
        for part in path:
            below = here.child(part)
            if below is None:
                return here
            here = below
        return here

    def first_from_another_file(self) -> "Origin | None":
        """The first value inside that was written in another file, such as an override."""
        children = self.children or ()
        for child in children.values() if isinstance(children, dict) else children:
            found = child if child.file != self.file else child.first_from_another_file()
            if found is not None:
                return found
        return None

    def with_child(self, key: str, child: "Origin") -> "Origin":
        """The same place with another entry; this origin is not changed."""
        children = dict(self.children) if isinstance(self.children, dict) else {}
        children[key] = child
        return self.with_children(children)

    def with_children(self, children: "dict[str, Origin] | list[Origin]") -> "Origin":
        """The same place with other entries; this origin is not changed."""
        return Origin(self.file, self.line, self.column, self.key_line, self.key_column, children)
