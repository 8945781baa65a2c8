"""Give objects the namespace in which the server keeps them."""

from collections.abc import Callable, Iterable

from holdfast.kube.objects import KubeObject


def placed(
    objects: Iterable[KubeObject], is_namespaced: Callable[[str, str], bool | None], default: str
) -> list[KubeObject]:
    """Objects with their namespace filled in, or taken away where the kind has none.

    Law: idempotent; the input is not changed.

    Args:
        objects: Whole objects.
        is_namespaced: apiVersion and kind to whether it has namespaces; None when not known, which
            leaves the object as it is.
        default: Namespace of objects that name none.
    """
    return [_placed(one, is_namespaced(one["apiVersion"], one["kind"]), default) for one in objects]


def _placed(one: KubeObject, is_namespaced: bool | None, default: str) -> KubeObject:
    metadata = one.get("metadata") or {}
    if is_namespaced is None or bool(metadata.get("namespace")) == is_namespaced:
        return one
    rest = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**one, "metadata": {**rest, "namespace": default} if is_namespaced else rest}
