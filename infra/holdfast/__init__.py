"""Holdfast: AI agents declared in Git, deployed by Pulumi, and held to what was declared.

For programs of your own: `from holdfast import Agent`. The components are loaded when they are
asked for, so that `import holdfast` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.components.admission import AdmissionPolicies as AdmissionPolicies
    from holdfast.components.agent import Agent as Agent
    from holdfast.components.agent import McpServer as McpServer
    from holdfast.components.arguments import AdmissionPoliciesArgs as AdmissionPoliciesArgs
    from holdfast.components.arguments import AgentArgs as AgentArgs
    from holdfast.components.arguments import AgentConfigArgs as AgentConfigArgs
    from holdfast.components.arguments import AgentIdentityArgs as AgentIdentityArgs
    from holdfast.components.arguments import AgentMonitoringArgs as AgentMonitoringArgs
    from holdfast.components.arguments import AgentNetworkArgs as AgentNetworkArgs
    from holdfast.components.arguments import AgentScalingArgs as AgentScalingArgs
    from holdfast.components.arguments import AgentSecretsArgs as AgentSecretsArgs
    from holdfast.components.arguments import AgentStorageArgs as AgentStorageArgs
    from holdfast.components.arguments import FleetArgs as FleetArgs
    from holdfast.components.arguments import McpServerArgs as McpServerArgs
    from holdfast.components.fleet import Fleet as Fleet
    from holdfast.components.parts import AgentBackup as AgentBackup
    from holdfast.components.parts import AgentConfig as AgentConfig
    from holdfast.components.parts import AgentIdentity as AgentIdentity
    from holdfast.components.parts import AgentMonitoring as AgentMonitoring
    from holdfast.components.parts import AgentNetwork as AgentNetwork
    from holdfast.components.parts import AgentPromotion as AgentPromotion
    from holdfast.components.parts import AgentScaling as AgentScaling
    from holdfast.components.parts import AgentSecrets as AgentSecrets
    from holdfast.components.parts import AgentStorage as AgentStorage
    from holdfast.components.parts import AgentWorkload as AgentWorkload

__version__ = "0.1.0"

_MODULES = ("parts", "agent", "fleet", "admission", "arguments")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a component, or the type of its arguments, when it is first asked for."""
        if name.startswith(("Agent", "AdmissionPolicies", "Fleet", "McpServer")):
            for module in _MODULES:
                found = getattr(
                    importlib.import_module(f"holdfast.components.{module}"), name, None
                )
                if found is not None:
                    return found
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
