// Lines that allocate from a fleet, for a shell.
import {serverUrl} from "./element.js";

/// One word for a POSIX shell, whatever is in it.
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export const pathOf = (namespace) =>
  `apis/allocation.agones.dev/v1/namespaces/${encodeURIComponent(namespace)}/gameserverallocations`;

/// `local`: the fleet is of the server's own cluster; others are reached through the policies.
export function allocationOf(fleet, local) {
  const spec = {selectors: [{matchLabels: {"agones.dev/fleet": fleet.name}}]};
  if (!local) spec.multiClusterSetting = {enabled: true};
  return {
    apiVersion: "allocation.agones.dev/v1",
    kind: "GameServerAllocation",
    metadata: {namespace: fleet.namespace},
    spec,
  };
}

export function curlLine(fleet, local) {
  const url = serverUrl(pathOf(fleet.namespace));
  const certificates = url.protocol === "https:" ? " --cacert ca.crt --cert tls.crt --key tls.key" : "";
  return `curl -s${certificates} -H 'Content-Type: application/json' ${quoted(url.href)} -d ${quoted(JSON.stringify(allocationOf(fleet, local)))}`;
}

/// `direct`: this server is a cluster for kubectl; else kubectl goes to the cluster of its own configuration.
export function kubectlLine(fleet, local, direct) {
  const url = serverUrl("");
  const certificates = url.protocol === "https:" ? " --certificate-authority ca.crt --client-certificate tls.crt --client-key tls.key" : "";
  const server = direct ? ` --server ${quoted(url.href.replace(/\/$/, ""))}${certificates}` : "";
  return `echo ${quoted(JSON.stringify(allocationOf(fleet, local)))} | kubectl${server} create -o yaml -f -`;
}
