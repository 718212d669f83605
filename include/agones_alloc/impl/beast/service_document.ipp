#pragma once

#include <agones_alloc/beast/service_document.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::string_view service_document_paths = R"json({
"openapi": "3.0.3",
"info": {
  "title": "agones-alloc-server",
  "description": "Allocates Agones game servers, and tells what fleets there are and how full they are. Embedded fleets are a small Kubernetes cluster, too: /openapi/v3 describes that.",
  "version": ")json" AGONES_ALLOC_VERSION R"json("
},
"tags": [
  {"name": "fleets", "description": "What there is: only reads"},
  {"name": "allocation", "description": "Both wire forms of Agones"},
  {"name": "claims", "description": "What was allocated under an id"},
  {"name": "gates", "description": "Game servers that call back when players can join"},
  {"name": "server", "description": "The server itself"}
],
"paths": {
"/v1/fleets": {"get": {
  "tags": ["fleets"], "operationId": "listFleets", "summary": "Fleets of all clusters, as JSON or as a stream of events",
  "description": "With Accept: text/event-stream the state (SNAPSHOT_ITEM, SYNCED) and then what changes (ADDED, MODIFIED, DELETED, CLUSTER_STATUS, CLUSTER_GONE, HEARTBEAT, RESET). Each event's data is a StreamEvent.",
  "parameters": [
    {"$ref": "#/components/parameters/namespace"},
    {"name": "labelSelector", "in": "query", "description": "Of the Fleet's labels, as kubectl takes it: a=b,c!=d,e in (x,y),!f", "schema": {"type": "string", "maxLength": 4096}},
    {"name": "cluster", "in": "query", "description": "Only this cluster's", "schema": {"type": "string"}},
    {"name": "multiCluster", "in": "query", "description": "false: only this server's own cluster", "schema": {"type": "boolean", "default": true}},
    {"name": "include", "in": "query", "description": "Further parts of each fleet", "explode": false, "style": "form", "schema": {"type": "array", "items": {"type": "string", "enum": ["nodes", "annotations"]}}},
    {"$ref": "#/components/parameters/limit"},
    {"$ref": "#/components/parameters/continue"},
    {"name": "resume", "in": "query", "description": "Of a stream: the token to go on from, as Last-Event-ID", "schema": {"type": "string"}},
    {"name": "Last-Event-ID", "in": "header", "description": "Of a stream: the id of the last event that was heard", "schema": {"type": "string"}},
    {"name": "If-None-Match", "in": "header", "description": "The ETag of an earlier answer", "schema": {"type": "string"}}
  ],
  "responses": {
    "200": {"description": "A page of fleets, or a stream", "headers": {"ETag": {"schema": {"type": "string"}}},
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/FleetPage"}}, "text/event-stream": {"schema": {"type": "string"}}}},
    "304": {"description": "Nothing on the page has changed"},
    "400": {"$ref": "#/components/responses/Failure"}, "401": {"$ref": "#/components/responses/Denied"},
    "403": {"$ref": "#/components/responses/Failure"}, "406": {"$ref": "#/components/responses/Failure"},
    "503": {"$ref": "#/components/responses/Failure"}, "508": {"$ref": "#/components/responses/Failure"}
  }
}},
"/v1/gameservers": {"get": {
  "tags": ["fleets"], "operationId": "listGameServers", "summary": "Game servers of this cluster: of a namespace, or of one fleet",
  "parameters": [
    {"$ref": "#/components/parameters/namespace"},
    {"name": "fleet", "in": "query", "description": "Only this fleet's", "schema": {"type": "string"}},
    {"$ref": "#/components/parameters/limit"},
    {"$ref": "#/components/parameters/continue"}
  ],
  "responses": {
    "200": {"description": "By name, without their spec", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GameServerPage"}}}},
    "400": {"$ref": "#/components/responses/Failure"}, "401": {"$ref": "#/components/responses/Denied"},
    "403": {"$ref": "#/components/responses/Failure"}, "508": {"$ref": "#/components/responses/Failure"}
  }
}},
"/v1/query": {"post": {
  "tags": ["fleets"], "operationId": "query", "summary": "Is there room for such a request? Allocates nothing",
  "parameters": [
    {"$ref": "#/components/parameters/namespace"},
    {"name": "names", "in": "query", "description": "How many servers are named", "schema": {"type": "integer", "minimum": 0, "maximum": 100, "default": 5}}
  ],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"anyOf": [{"$ref": "#/components/schemas/GameServerAllocation"}, {"$ref": "#/components/schemas/AllocationRequest"}]}}}},
  "responses": {
    "200": {"description": "How many servers there are for it in this cluster", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}},
    "400": {"$ref": "#/components/responses/Failure"}, "401": {"$ref": "#/components/responses/Denied"},
    "403": {"$ref": "#/components/responses/Failure"}, "422": {"$ref": "#/components/responses/Failure"},
    "499": {"$ref": "#/components/responses/Failure"}, "503": {"$ref": "#/components/responses/Failure"},
    "504": {"$ref": "#/components/responses/Failure"}, "508": {"$ref": "#/components/responses/Failure"}
  }
}},
"/v1/clusters": {"get": {
  "tags": ["server"], "operationId": "listClusters", "summary": "Clusters of the policies, with breakers and connections",
  "responses": {
    "200": {"description": "What is known of them", "content": {"application/json": {"schema": {"type": "object", "required": ["clusters"], "properties": {"clusters": {"type": "array", "items": {"type": "object"}}}}}}},
    "400": {"$ref": "#/components/responses/Failure"}, "401": {"$ref": "#/components/responses/Denied"}
  }
}},
"/v1/claims/{id}": {"get": {
  "tags": ["claims"], "operationId": "findClaim", "summary": "The claim of that id; of a pending server with Prefer: wait=SECONDS at the end of the wait",
  "description": "With Accept: text/event-stream the state (PENDING, ALLOCATED, ENDED), and after PENDING the end of the wait (ALLOCATED, ENDED), with HEARTBEAT meanwhile; then the stream ends. The data of an event is a Claim, of HEARTBEAT the time, and of ENDED where nothing is known any more a Failure.",
  "parameters": [{"$ref": "#/components/parameters/id"}, {"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/prefer"}],
  "responses": {"200": {"description": "The claim, or a stream", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Claim"}}, "text/event-stream": {"schema": {"type": "string"}}}}, "default": {"$ref": "#/components/responses/Failure"}}
}},
"/v1/claims/{id}:confirm": {"post": {
  "tags": ["claims"], "operationId": "confirmClaim", "summary": "Keeps the claim from expiring",
  "description": "Of a pending server it waits until that is ready, with Prefer: wait=SECONDS so long, else as long as a request may take. If it is pending still, 409 with Retry-After and the Claim besides code and message.",
  "parameters": [{"$ref": "#/components/parameters/id"}, {"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/prefer"}],
  "responses": {"200": {"$ref": "#/components/responses/Claim"}, "default": {"$ref": "#/components/responses/Failure"}}
}},
"/v1/claims/{id}:release": {"post": {
  "tags": ["claims"], "operationId": "releaseClaim", "summary": "Ends the claim",
  "parameters": [{"$ref": "#/components/parameters/id"}, {"$ref": "#/components/parameters/namespace"},
    {"name": "to", "in": "query", "schema": {"type": "string", "enum": ["ready", "shutdown"], "default": "ready"}}],
  "responses": {"200": {"$ref": "#/components/responses/Claim"}, "default": {"$ref": "#/components/responses/Failure"}}
}},
"/v1/gates/{token}:ready": {"post": {
  "tags": ["gates"], "operationId": "gateReady", "summary": "The game says that players can join; a token is good for one call. With --no-gates this path is not there",
  "parameters": [{"$ref": "#/components/parameters/token"}],
  "responses": {"204": {"description": "It counts, if the wait goes on still"}, "400": {"$ref": "#/components/responses/NoParameter"}, "404": {"$ref": "#/components/responses/NobodyWaits"}}
}},
"/v1/gates/{token}:failed": {"post": {
  "tags": ["gates"], "operationId": "gateFailed", "summary": "The game says that they never will: the wait ends, and the next server is tried",
  "parameters": [{"$ref": "#/components/parameters/token"}],
  "responses": {"204": {"description": "It counts, if the wait goes on still"}, "400": {"$ref": "#/components/responses/NoParameter"}, "404": {"$ref": "#/components/responses/NobodyWaits"}}
}},
"/gameserverallocation": {"post": {
  "tags": ["allocation"], "operationId": "allocate", "summary": "Allocates, in the form of Agones' allocator service",
  "parameters": [{"$ref": "#/components/parameters/dryRun"}, {"$ref": "#/components/parameters/key"}, {"$ref": "#/components/parameters/prefer"},
    {"$ref": "#/components/parameters/gate"}],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AllocationRequest"}}}},
  "responses": {
    "200": {"description": "Allocated", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AllocationResponse"}}}},
    "202": {"$ref": "#/components/responses/Pending"},
    "default": {"description": "A gRPC status: 429 where there is no server", "content": {"application/json": {"schema": {"type": "object", "required": ["code", "message"], "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "details": {"type": "array", "items": {"type": "object"}}}}}}}
  }
}},
"/apis/allocation.agones.dev/v1/namespaces/{namespace}/gameserverallocations": {"post": {
  "tags": ["allocation"], "operationId": "createGameServerAllocation", "summary": "Allocates, in the form of the Kubernetes API",
  "parameters": [
    {"name": "namespace", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}},
    {"$ref": "#/components/parameters/dryRun"}, {"$ref": "#/components/parameters/key"}, {"$ref": "#/components/parameters/prefer"},
    {"$ref": "#/components/parameters/gate"},
    {"name": "timeout", "in": "query", "schema": {"type": "string"}, "example": "5s"}
  ],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GameServerAllocation"}}, "application/yaml": {"schema": {"$ref": "#/components/schemas/GameServerAllocation"}}}},
  "responses": {
    "201": {"description": "status.state says what came of it: Allocated, UnAllocated, Contention", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GameServerAllocation"}}}},
    "202": {"$ref": "#/components/responses/Pending"},
    "default": {"$ref": "#/components/responses/Denied"}
  }
}},
"/live": {"get": {"tags": ["server"], "operationId": "live", "responses": {"200": {"description": "It works"}, "503": {"description": "It does not"}}}},
"/ready": {"get": {"tags": ["server"], "operationId": "ready", "responses": {"200": {"description": "It can allocate"}, "503": {"description": "Not yet, or no more"}}}},
"/metrics": {"get": {"tags": ["server"], "operationId": "metrics", "responses": {"200": {"description": "Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}}}}}
},
)json";

inline constexpr std::string_view service_document_components = R"json("components": {
"parameters": {
  "namespace": {"name": "namespace", "in": "query", "description": "Only this namespace; where it may be left out, all that the caller may see", "schema": {"type": "string"}},
  "limit": {"name": "limit", "in": "query", "description": "The most that are told at a time", "schema": {"type": "integer", "minimum": 1, "maximum": 10000}},
  "continue": {"name": "continue", "in": "query", "description": "Of the page before", "schema": {"type": "string"}},
  "id": {"name": "id", "in": "path", "required": true, "description": "The Idempotency-Key of the allocation", "schema": {"type": "string", "minLength": 1, "maxLength": 256}},
  "dryRun": {"name": "dryRun", "in": "query", "description": "All: decides, and hands out nothing", "schema": {"type": "string", "enum": ["All"]}},
  "key": {"name": "Idempotency-Key", "in": "header", "description": "The same key again gets the same server", "schema": {"type": "string", "minLength": 1, "maxLength": 256}},
  "prefer": {"name": "Prefer", "in": "header", "description": "wait=SECONDS: waits for a server where there is none; of an allocation respond-async: answers 202 while its server is pending at a readiness gate", "schema": {"type": "string"}},
  "gate": {"name": "Agones-Alloc-Gate", "in": "header", "description": "How the game shows that players can join: parts joined by semicolons, before those of the fleet's template and of --gate. off, on, a source (watch, counter, http, tcp, webhook, sse, grpc), or source, carrier, on-timeout, timeout, key, at-least, port, path, period, try-timeout, initial-delay, successes, failures, servers with =VALUE. The annotation agones-alloc.dev/gate of a GameServerAllocation says the same", "schema": {"type": "string", "minLength": 1, "maxLength": 2048}, "example": "http; path=/ready; timeout=20s"},
  "token": {"name": "token", "in": "path", "required": true, "description": "The annotation agones-alloc.dev/gate-token of the game server", "schema": {"type": "string", "minLength": 1, "maxLength": 64}}
},
"responses": {
  "Failure": {"description": "Why not; the message begins with the parameter or field that is wrong", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}},
  "Denied": {"description": "A Kubernetes Status", "content": {"application/json": {"schema": {"type": "object", "properties": {"kind": {"type": "string"}, "code": {"type": "integer"}, "message": {"type": "string"}}}}}},
  "Claim": {"description": "The claim", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Claim"}}}},
  "Pending": {"description": "Claimed, and not ready for players yet: asked for with Prefer: respond-async. Location is where the end is told",
    "headers": {"Location": {"schema": {"type": "string"}}, "Preference-Applied": {"schema": {"type": "string"}}},
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pending"}}}},
  "NoParameter": {"description": "The path takes no parameters; the text begins with the one that was given", "content": {"text/plain": {"schema": {"type": "string"}}}},
  "NobodyWaits": {"description": "No pending server that is known here has this token", "content": {"text/plain": {"schema": {"type": "string"}}}}
},
"schemas": {
  "Failure": {"type": "object", "required": ["code", "message"], "properties": {"code": {"type": "integer"}, "message": {"type": "string"}}},
  "StringMap": {"type": "object", "additionalProperties": {"type": "string"}},
  "Sums": {"type": "object", "required": ["allocatedCount", "allocatedCapacity", "count", "capacity"], "properties": {"allocatedCount": {"type": "integer", "format": "int64"}, "allocatedCapacity": {"type": "integer", "format": "int64"}, "count": {"type": "integer", "format": "int64"}, "capacity": {"type": "integer", "format": "int64"}, "free": {"type": "integer", "format": "int64", "description": "Of the recount: what is left on Ready and Allocated servers"}}},
  "SumsMap": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Sums"}},
  "Fleet": {"type": "object", "required": ["clusterName", "namespace", "fleetName", "labels", "observedTime", "stale"],
    "description": "At the top the Fleet's own status, where it is known; in recount what its servers say, which moves first",
    "properties": {
      "clusterName": {"type": "string"}, "namespace": {"type": "string"}, "fleetName": {"type": "string"},
      "uid": {"type": "string"}, "resourceVersion": {"type": "string"}, "generation": {"type": "integer", "format": "int64"},
      "labels": {"$ref": "#/components/schemas/StringMap"}, "annotations": {"$ref": "#/components/schemas/StringMap"},
      "scheduling": {"type": "string"}, "desiredGameservers": {"type": "integer"}, "totalGameservers": {"type": "integer"},
      "readyGameservers": {"type": "integer"}, "reservedGameservers": {"type": "integer"}, "allocatedGameservers": {"type": "integer"},
      "players": {"type": "object", "properties": {"count": {"type": "integer", "format": "int64"}, "capacity": {"type": "integer", "format": "int64"}}},
      "counters": {"$ref": "#/components/schemas/SumsMap"}, "lists": {"$ref": "#/components/schemas/SumsMap"},
      "recount": {"$ref": "#/components/schemas/Recount"},
      "observedTime": {"type": "string", "format": "date-time"}, "stale": {"type": "boolean", "description": "Its cluster is not heard at present: the last values"}
    }},
  "Recount": {"type": "object", "required": ["totalGameservers", "readyGameservers", "reservedGameservers", "allocatedGameservers", "allocatingGameservers", "shuttingDownGameservers", "states", "nodeCount"],
    "properties": {
      "totalGameservers": {"type": "integer"}, "readyGameservers": {"type": "integer"}, "reservedGameservers": {"type": "integer"},
      "allocatedGameservers": {"type": "integer"}, "allocatingGameservers": {"type": "integer"}, "shuttingDownGameservers": {"type": "integer"},
      "states": {"type": "object", "additionalProperties": {"type": "integer"}},
      "players": {"$ref": "#/components/schemas/Sums"}, "counters": {"$ref": "#/components/schemas/SumsMap"}, "lists": {"$ref": "#/components/schemas/SumsMap"},
      "nodeCount": {"type": "integer"},
      "nodes": {"type": "object", "additionalProperties": {"type": "object", "properties": {"totalGameservers": {"type": "integer"}, "readyGameservers": {"type": "integer"}, "allocatedGameservers": {"type": "integer"}}}}
    }},
  "Cluster": {"type": "object", "required": ["clusterName", "endpoint", "local", "code", "message", "synced", "stale", "observedTime"],
    "properties": {"clusterName": {"type": "string"}, "endpoint": {"type": "string"}, "local": {"type": "boolean"},
      "code": {"type": "integer", "description": "gRPC code: 0 well, 12 it has no fleet information, 14 it is not heard"}, "message": {"type": "string"},
      "synced": {"type": "boolean"}, "stale": {"type": "boolean"}, "observedTime": {"type": "string", "format": "date-time"}}},
  "FleetPage": {"type": "object", "required": ["fleets", "clusters", "token"],
    "properties": {"fleets": {"type": "array", "items": {"$ref": "#/components/schemas/Fleet"}}, "clusters": {"type": "array", "items": {"$ref": "#/components/schemas/Cluster"}},
      "token": {"type": "string", "description": "A stream that resumes from it tells what changes after this answer"}, "continue": {"type": "string", "description": "There is a further page"}}},
  "StreamEvent": {"type": "object", "properties": {"fleet": {"$ref": "#/components/schemas/Fleet"}, "cluster": {"$ref": "#/components/schemas/Cluster"}, "token": {"type": "string"}, "time": {"type": "string", "format": "date-time"}, "reason": {"type": "string"}}},
  "GameServer": {"type": "object", "description": "Of agones.dev/v1, without its spec", "required": ["metadata", "status"], "properties": {"kind": {"type": "string"}, "apiVersion": {"type": "string"}, "metadata": {"type": "object"}, "status": {"type": "object"}}},
  "GameServerPage": {"type": "object", "required": ["gameServers"], "properties": {"gameServers": {"type": "array", "items": {"$ref": "#/components/schemas/GameServer"}}, "continue": {"type": "string"}}},
  "Room": {"type": "object", "required": ["clusterName", "namespace", "result", "fits", "exact", "selectors", "gameServers"],
    "properties": {"clusterName": {"type": "string"}, "namespace": {"type": "string"}, "result": {"type": "string", "enum": ["Available", "Contention", "UnAllocated"]},
      "fits": {"type": "integer", "minimum": 0, "description": "Servers that match any selector"}, "exact": {"type": "boolean", "description": "false: at least so many, as the selectors may match the same servers"},
      "selectors": {"type": "array", "items": {"type": "object", "required": ["free", "inFlight"], "properties": {"free": {"type": "integer"}, "inFlight": {"type": "integer"},
        "clauses": {"type": "array", "items": {"type": "object", "required": ["name", "remaining"], "properties": {"name": {"type": "string"}, "remaining": {"type": "integer"}}}}}}},
      "gameServers": {"type": "array", "items": {"type": "string"}}}},
  "Pending": {"type": "object", "required": ["kind", "reason", "code", "id", "namespace", "gameServerName"], "properties": {"kind": {"type": "string"}, "apiVersion": {"type": "string"}, "metadata": {"type": "object"}, "status": {"type": "string"}, "reason": {"type": "string", "enum": ["Pending"]}, "message": {"type": "string"}, "code": {"type": "integer", "enum": [202]}, "id": {"type": "string", "description": "Of the claim"}, "namespace": {"type": "string"}, "gameServerName": {"type": "string"}, "deadline": {"type": "string"}}},
  "Claim": {"type": "object", "properties": {"id": {"type": "string"}, "namespace": {"type": "string"}, "gameServerName": {"type": "string"}, "state": {"type": "string"}, "confirmed": {"type": "boolean"}, "expires": {"type": "string"}, "pending": {"type": "boolean", "description": "true: not ready for players yet"}, "deadline": {"type": "string", "description": "Of a pending one: then the wait ends"}, "ended": {"type": "string", "enum": ["ready", "timed_out", "failed", "abandoned", "gone"], "description": "How the wait ended, where the claim is gone and it is remembered"}, "notUndone": {"type": "array", "items": {"type": "string"}}}},
  "GameServerAllocation": {"type": "object", "description": "Of allocation.agones.dev/v1",
    "properties": {"kind": {"type": "string", "enum": ["GameServerAllocation"]}, "apiVersion": {"type": "string", "enum": ["allocation.agones.dev/v1"]}, "metadata": {"type": "object"}, "spec": {"$ref": "#/components/schemas/AllocationSpec"}, "status": {"type": "object"}}},
  "Selector": {"type": "object", "properties": {"matchLabels": {"$ref": "#/components/schemas/StringMap"}, "matchExpressions": {"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string"}, "operator": {"type": "string"}, "values": {"type": "array", "items": {"type": "string"}}}}}, "gameServerState": {"type": "string", "enum": ["Ready", "Allocated"]}, "counters": {"type": "object"}, "lists": {"type": "object"}, "players": {"type": "object"}}},
  "AllocationSpec": {"type": "object", "properties": {"multiClusterSetting": {"type": "object"}, "selectors": {"type": "array", "items": {"$ref": "#/components/schemas/Selector"}}, "scheduling": {"type": "string", "enum": ["Packed", "Distributed"]}, "priorities": {"type": "array", "items": {"type": "object"}}, "metadata": {"type": "object"}, "counters": {"type": "object"}, "lists": {"type": "object"}}},
  "AllocationRequest": {"type": "object", "description": "proto-JSON of Agones' allocation service", "properties": {"namespace": {"type": "string"}, "multiClusterSetting": {"type": "object"}, "gameServerSelectors": {"type": "array", "items": {"type": "object"}}, "scheduling": {"type": "string", "enum": ["Packed", "Distributed"]}, "metadata": {"type": "object"}, "priorities": {"type": "array", "items": {"type": "object"}}, "counters": {"type": "object"}, "lists": {"type": "object"}}},
  "AllocationResponse": {"type": "object", "required": ["gameServerName"], "properties": {"gameServerName": {"type": "string"}, "ports": {"type": "array", "items": {"type": "object"}}, "address": {"type": "string"}, "addresses": {"type": "array", "items": {"type": "object"}}, "nodeName": {"type": "string"}, "source": {"type": "string"}, "metadata": {"type": "object"}, "counters": {"type": "object"}, "lists": {"type": "object"}}}
}
}}
)json";

}  // namespace detail

AGONES_ALLOC_DECL auto service_document_text() -> std::string const& {
  static std::string const text = std::string{detail::service_document_paths} + std::string{detail::service_document_components};
  return text;
}

AGONES_ALLOC_DECL void service_document::handle(http_request const& request, reply done) {
  http_response out;
  if (request.method == "GET" || request.method == "HEAD") {
    out = json_response(200, service_document_text());
    out.headers.emplace_back("Cache-Control", "max-age=3600");
  } else {
    out = text_response(405, "Method Not Allowed");
    out.headers.emplace_back("Allow", "GET, HEAD");
  }
  out.route = "openapi";
  std::move(done)(std::move(out));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
