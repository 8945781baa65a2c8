"""How fast an autoscaler moves, in the words of HorizontalPodAutoscaler."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.scaling import ScalingBehavior


def behavior_of(behavior: ScalingBehavior) -> KubeObject:
    """The `behavior` of a HorizontalPodAutoscaler; what is not declared is left to its defaults."""
    rendered: KubeObject = behavior.model_dump(by_alias=True, exclude_none=True, mode="json")
    for rules in rendered.values():
        if not rules["policies"]:
            del rules["policies"]
    return rendered
