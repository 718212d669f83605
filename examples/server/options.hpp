// What the server can be told: by command line, environment and configuration file.
#pragma once

#include "event_options.hpp"

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/async/gate_options.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/beast/namespace_rules.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/port/logger.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc_server {

enum class log_format : std::uint8_t { text, json };

/// A cluster in place of the embedded fleets.
struct kubernetes_settings {
  std::vector<std::string> kubeconfigs;  ///< merged as kubectl does
  std::string context;                   ///< "": the current one
  bool in_cluster{false};
  std::string account_folder{"/var/run/secrets/kubernetes.io/serviceaccount"};  ///< with in_cluster
  std::vector<std::string> namespaces;   ///< empty: all
  bool no_events{false};
  bool no_node_ranking{false};
  bool stream_lists{false};
  std::size_t connections{64};
  auto used() const noexcept -> bool { return in_cluster || !kubeconfigs.empty(); }
};

/// HTTPS, and who may ask over it.
struct tls_settings {
  std::string certificate;               ///< "": plain HTTP
  std::string key;
  std::vector<std::string> client_authorities;  ///< files or folders: their certificates may allocate
  bool front_proxy{false};               ///< believe the cluster's API server, by what it publishes
  std::string front_proxy_authority;     ///< file: believe certificates of this authority
  agones_alloc::front_proxy_rules proxy;  ///< without its authorities
  bool anybody{false};
  bool reviews{false};                   ///< ask the cluster's API server whether direct callers may
  std::vector<agones_alloc::namespace_rule> clients;  ///< who may allocate where; empty: everywhere
  std::chrono::nanoseconds look_every{std::chrono::seconds{10}};
  auto used() const noexcept -> bool { return !certificate.empty(); }
  auto trusts_proxy() const noexcept -> bool { return front_proxy || !front_proxy_authority.empty(); }
};

/// gRPC, on a port of its own.
struct grpc_settings {
  std::string address;  ///< "": none
  std::uint16_t port{0};
  bool reflection{false};
  auto used() const noexcept -> bool { return !address.empty(); }
};

/// Other clusters.
struct remote_cluster_settings {
  std::vector<std::string> policies;  ///< files or folders
  bool watch{false};                  ///< the policies of the Kubernetes cluster
  std::string secrets;                ///< folder of client certificates; "": the cluster's Secrets, if there is one
  bool fallback_local{false};
  agones_alloc::remote_protocol protocol{agones_alloc::remote_protocol::rest};  ///< of endpoints that do not say
  std::uint32_t repeats{0};
  std::vector<int> exhausted_codes;
  std::chrono::nanoseconds call_time{std::chrono::seconds{10}};
  std::chrono::nanoseconds connect_time{std::chrono::seconds{2}};
  std::chrono::nanoseconds exhausted_for{std::chrono::milliseconds{500}};
  std::chrono::nanoseconds secret_time{std::chrono::seconds{60}};
};

/// Fleet information.
struct directory_settings {
  bool off{false};
  bool local_only{false};  ///< do not listen to other clusters
  std::chrono::nanoseconds unserved_retry{std::chrono::minutes{5}};
  std::string cluster;  ///< name of the local one; "": local
  std::chrono::nanoseconds interval{std::chrono::milliseconds{250}};
  std::size_t streams{500};
  std::size_t streams_per_caller{100};
  std::chrono::nanoseconds heartbeat{std::chrono::seconds{15}};
  std::chrono::nanoseconds stream_time{std::chrono::hours{1}};
};

struct server_options {
  directory_settings directory;
  std::vector<std::string> fleets;
  remote_cluster_settings clusters;
  kubernetes_settings kubernetes;
  tls_settings tls;
  std::string address{"127.0.0.1"};
  std::uint16_t port{8080};
  grpc_settings grpc;
  bool allow_plaintext_non_loopback{false};
  bool no_page{false};
  agones_alloc::http_limits limits;
  agones_alloc::front_end_options front_end;
  agones_alloc::simulator_options simulator;
  std::size_t max_allocations{65536};
  std::size_t max_writes{4096};
  std::size_t max_shapes{1024};
  std::size_t max_waiting{10'000};
  std::size_t requests_per_client{512};  ///< 0: no bound
  bool no_cluster_api{false};
  std::size_t max_watches{256};
  agones_alloc::claim_options claims;
  bool leave_claims{false};
  agones_alloc::gate_options gate;
  bool no_gates{false};
  std::vector<event_sink_settings> event_sinks;
  std::string event_source{"/agones-alloc"};
  std::chrono::nanoseconds event_fleet_interval{std::chrono::seconds{1}};
  std::chrono::nanoseconds event_grace{std::chrono::seconds{5}};
  std::string event_state;  ///< file; "": none
  std::chrono::nanoseconds event_state_interval{std::chrono::seconds{10}};
  log_format format{log_format::text};
  agones_alloc::severity level{agones_alloc::severity::info};
  std::chrono::nanoseconds shutdown_grace{std::chrono::seconds{10}};
  std::chrono::nanoseconds readiness_shutdown_duration{0};

  /// Standard output is for machines: what is there to tell people goes to the log.
  auto speaks_by_log() const -> bool;
  std::vector<std::string> unknown_variables;  ///< of the environment, named as those of options are
};

/// What to do instead of serving: a text for standard output (code 0) or standard error, and the exit code.
struct early_exit {
  int code;
  std::string text;
};

/// Codes: 0 for --help and --version, 2 for what cannot be understood.
auto read_options(int argc, char const* const* argv) -> std::variant<server_options, early_exit>;

/// `A=true&B=false` (spec 2.7), or why not.
auto read_feature_gates(std::string_view text) -> std::variant<agones_alloc::feature_gates, std::string>;

/// The options on which every request's choice depends, from a word of --ranking; false when there is no such word.
auto read_ranking(std::string_view word, agones_alloc::choice_options& choice) -> bool;

}  // namespace agones_alloc_server
