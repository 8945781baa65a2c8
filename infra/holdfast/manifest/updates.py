"""How updates of a stack are done: what must hold before and after one."""

from holdfast.manifest.values import ManifestModel


class UpdateSettings(ManifestModel):
    """What must hold before and after an update by `holdfast up` and its like."""

    require_approval: bool = False
    """Promotion to this stack needs a file that approves the commit (`holdfast promote
    --approval`); default false."""
