"""The namespaces of a stack, held to the restricted Pod Security standard."""

from collections.abc import Iterable

from holdfast.render.marks import Origin, RenderedObject

_POD_SECURITY = "pod-security.kubernetes.io"


def render_namespaces(names: Iterable[str], origin: Origin) -> list[RenderedObject]:
    """One Namespace a name, in order of name."""
    return [
        RenderedObject(
            "",
            f"namespace-{name}",
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": name,
                    "labels": {
                        "app.kubernetes.io/managed-by": "holdfast",
                        f"{_POD_SECURITY}/enforce": "restricted",
                        f"{_POD_SECURITY}/warn": "restricted",
                    },
                    "annotations": origin.annotations(),
                },
            },
        )
        for name in sorted(set(names))
    ]
