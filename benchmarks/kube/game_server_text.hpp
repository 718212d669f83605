// The game servers that are made: of a fleet, with a full pod template.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

inline constexpr std::size_t servers_a_node = 40;

inline auto server_name(std::size_t number) -> std::string {
  auto const digits = std::to_string(100'000 + number);
  return "simple-x7x2k-" + digits.substr(digits.size() - 5);
}

/// Spread over the nodes as a scheduler would not do: one after the other.
inline auto game_server_text(std::size_t number, std::size_t servers) -> std::string {
  auto const nodes = (servers + servers_a_node - 1) / servers_a_node;
  auto const node = std::to_string(number % nodes);
  auto const port = std::to_string(7000 + number / nodes);
  return R"({"apiVersion":"agones.dev/v1","kind":"GameServer","metadata":{"name":")" + server_name(number) + R"(",)"
         R"("annotations":{"agones.dev/ready-container-id":"containerd://0123456789abcdef0123456789abcdef","agones.dev/sdk-version":"1.57.0"},)"
         R"("labels":{"agones.dev/fleet":"simple","agones.dev/gameserverset":"simple-x7x2k"}},"spec":{"container":"simple",)"
         R"("eviction":{"safe":"Never"},"health":{"failureThreshold":3,"initialDelaySeconds":5,"periodSeconds":5},)"
         R"("ports":[{"container":"simple","containerPort":7654,"hostPort":)" + port + R"(,"name":"default",)"
         R"("portPolicy":"Dynamic","protocol":"UDP"}],"scheduling":"Packed","sdkServer":{"grpcPort":9357,"httpPort":9358,"logLevel":"Info"},)"
         R"("template":{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"},"labels":{"app":"simple",)"
         R"("region":"eu-north","team":"arena"}},"spec":{"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":)"
         R"([{"podAffinityTerm":{"labelSelector":{"matchLabels":{"agones.dev/role":"gameserver"}},"topologyKey":"kubernetes.io/hostname"},)"
         R"("weight":100}]}},"containers":[{"args":["--port","7654","--map","harbour"],"env":[{"name":"AGONES_SDK_GRPC_PORT","value":"9357"},)"
         R"({"name":"AGONES_SDK_HTTP_PORT","value":"9358"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],)"
         R"("image":"registry.example/simple-game-server:0.39","imagePullPolicy":"IfNotPresent","livenessProbe":{"failureThreshold":3,)"
         R"("httpGet":{"path":"/gshealthz","port":8080},"initialDelaySeconds":5,"periodSeconds":5},"name":"simple","ports":[)"
         R"({"containerPort":7654,"hostPort":)" + port + R"(,"protocol":"UDP"}],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},)"
         R"("requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"mountPath":"/var/saves","name":"saves"}]},)"
         R"({"args":["--grpc-port=9357","--http-port=9358"],"env":[{"name":"GAMESERVER_NAME","value":")" + server_name(number) + R"("},)"
         R"({"name":"POD_NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}}],"image":"registry.example/agones-sdk:1.57.0",)"
         R"("livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"initialDelaySeconds":3,"periodSeconds":3},"name":"agones-gameserver-sidecar",)"
         R"("resources":{"requests":{"cpu":"30m"}}}],"serviceAccountName":"agones-sdk","terminationGracePeriodSeconds":30,"tolerations":)"
         R"([{"effect":"NoExecute","key":"agones.dev/gameservers","operator":"Equal","value":"true"}],"volumes":[{"emptyDir":{},"name":"saves"}]}}},)"
         R"("status":{"address":"192.0.2.)" + node + R"(","addresses":[{"address":"192.0.2.)" + node + R"(","type":"InternalIP"},)"
         R"({"address":"node-)" + node + R"(","type":"Hostname"}],"nodeName":"node-)" + node + R"(","ports":[{"name":"default","port":)" + port +
         R"(}],"state":"Ready"}})";
}

}  // namespace bench
