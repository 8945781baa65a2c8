import * as pulumi from "@pulumi/pulumi";
import * as holdfast from "@holdfast/holdfast";

const namespace = new pulumi.Config().require("namespace");

// A whole fleet: its namespace, and every agent with all of its parts.
const fleet = new holdfast.Fleet("fleet", {
    agents: {
        support: {
            namespace,
            version: "2.1.0",
            owner: "customer-care",
            image: "registry.example/agents/support@sha256:2b9fe4a0c6d25c0a8a7d3f4a1d9c7e2f6b1c8d5e4f3a2b1c0d9e8f7a6b5c4d3e",
            network: { ingressFrom: [{ namespace: "edge" }] },
            telemetry: { logs: { level: "warning" } },
        },
    },
});

// A part alone: the storage of a workload that you declare yourself.
const memory = new holdfast.AgentStorage(
    "memory",
    {
        agent: { name: "archivist", namespace },
        storage: {
            volumes: [{ name: "memory", size: "2Gi", mountPath: "/var/lib/memory", retain: false }],
        },
    },
    { dependsOn: [fleet] },
);

export const urls = fleet.urls;
export const claims = memory.claimNames;
