"""The table of rules: everything that is made from rules is made from this."""

from collections.abc import Mapping

from holdfast_policies.rule import Rule
from holdfast_policies.rules import (
    dedicated_service_account,
    egress_scoped,
    image_digest_pinned,
    image_registry_allowlist,
    no_literal_credentials,
    no_public_exposure,
    no_token_automount,
    pss_apparmor_selinux,
    pss_capabilities,
    pss_host_namespaces,
    pss_host_path,
    pss_host_ports,
    pss_host_probes_lifecycle,
    pss_privilege_escalation,
    pss_privileged,
    pss_proc_mount,
    pss_run_as_non_root,
    pss_seccomp,
    pss_sysctls,
    pss_volume_types,
    pss_windows_host_process,
    rbac_no_privileged_binding,
    rbac_no_wildcards,
    read_only_root_filesystem,
    requests_and_limits,
    stack_network_policy_coverage,
)

RULES: tuple[Rule, ...] = (
    pss_privileged.RULE,
    pss_host_namespaces.RULE,
    pss_host_path.RULE,
    pss_host_ports.RULE,
    pss_host_probes_lifecycle.RULE,
    pss_capabilities.RULE,
    pss_apparmor_selinux.RULE,
    pss_proc_mount.RULE,
    pss_seccomp.RULE,
    pss_sysctls.RULE,
    pss_windows_host_process.RULE,
    pss_volume_types.RULE,
    pss_privilege_escalation.RULE,
    pss_run_as_non_root.RULE,
    read_only_root_filesystem.RULE,
    image_digest_pinned.RULE,
    image_registry_allowlist.RULE,
    requests_and_limits.RULE,
    egress_scoped.RULE,
    no_public_exposure.RULE,
    no_literal_credentials.RULE,
    dedicated_service_account.RULE,
    no_token_automount.RULE,
    rbac_no_wildcards.RULE,
    rbac_no_privileged_binding.RULE,
    stack_network_policy_coverage.RULE,
)
"""All rules, in the order of the reference table."""

RULES_BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
