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

/// By way of the cluster that this server stands before, as kubectl's own configuration names it.
export function kubectlLine(fleet, local) {
  return `echo ${quoted(JSON.stringify(allocationOf(fleet, local)))} | kubectl create -o yaml -f -`;
}
