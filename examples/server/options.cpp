#include "options.hpp"

#include "grpc_serving.hpp"

#include "config_file.hpp"

#include <agones_alloc/beast/cross_origin.hpp>
#include <agones_alloc/beast/namespace_name.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/durations.hpp>
#include <agones_alloc/json/grpc_code.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

namespace agones_alloc_server {

namespace {

using agones_alloc::duration_range;
using std::chrono::nanoseconds;

[[noreturn]] void refuse(std::string const& option, std::string const& why) { throw CLI::ValidationError{option, why}; }

/// Options by long name; the environment's name is made of it: --max-body-bytes is AGONES_ALLOC_MAX_BODY_BYTES.
class table {
 public:
  explicit table(CLI::App& app) : app_{&app} {}

  void group(std::string name) { group_ = std::move(name); }

  void flag(std::string const& name, bool& target, std::string const& text) {
    finish(app_->add_flag("--" + name, target, text), name);
  }

  template <class Number>
  void number(std::string const& name, Number& target, std::type_identity_t<Number> min, std::type_identity_t<Number> max,
              std::string const& text,
              std::string const& unit = "N") {
    static_assert(std::is_integral_v<Number>);
    auto const take = [&target, name, min, max](std::string const& word) {
      Number value{};
      auto const* end = word.data() + word.size();
      auto const [stopped, fault] = std::from_chars(word.data(), end, value);
      if (fault != std::errc{} || stopped != end || value < min || value > max) {
        refuse("--" + name, word + " is out of range: a number from " + std::to_string(min) + " to " + std::to_string(max) + " is wanted");
      }
      target = value;
    };
    auto const shown_default = std::to_string(target);
    finish(app_->add_option_function<std::string>("--" + name, take, text)->type_name(unit)->default_str(shown_default), name);
  }

  void duration(std::string const& name, nanoseconds& target, nanoseconds min, nanoseconds max, std::string const& text) {
    auto const take = [&target, name, min, max](std::string const& word) {
      auto const value = agones_alloc::parse_duration(word);
      if (!value) refuse("--" + name, "\"" + word + "\" is no duration; 500ms, 10s or 1m30s are");
      if (*value < min || *value > max) {
        refuse("--" + name, word + " is out of range: " + agones_alloc::to_string(min) + " to " + agones_alloc::to_string(max));
      }
      target = *value;
    };
    auto const shown_default = agones_alloc::to_string(target);
    finish(app_->add_option_function<std::string>("--" + name, take, text)->type_name("TIME")->default_str(shown_default), name);
  }

  void text(std::string const& name, std::string const& type, std::string const& shown_default,
            std::function<void(std::string const&)> take, std::string const& help) {
    finish(app_->add_option_function<std::string>("--" + name, std::move(take), help)->type_name(type)->default_str(shown_default),
           name);
  }

  void list(std::string const& name, std::string const& type, std::vector<std::string>& target, std::string const& help) {
    auto const is_there = [](std::string const& word) { return word.empty() ? std::string{"must not be empty"} : std::string{}; };
    auto* const option = app_->add_option("--" + name, target, help)->expected(1)->take_all()->check(is_there);
    finish(option->type_name(type), name);
  }

  void list_of(std::string const& name, std::string const& type, std::function<void(std::string const&)> take,
               std::string const& help) {
    auto const each = [take = std::move(take)](std::vector<std::string> const& words) {
      for (auto const& word : words) take(word);
    };
    finish(app_->add_option_function<std::vector<std::string>>("--" + name, each, help)->type_name(type)->expected(1)->take_all(),
           name);
  }

 private:
  void finish(CLI::Option* option, std::string const& name) {
    std::string variable = "AGONES_ALLOC_";
    for (char const c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    option->group(group_)->envname(variable);
  }

  CLI::App* app_;
  std::string group_{"General"};
};

void take_listen(char const* option, std::string const& word, std::string& to_address, std::uint16_t& to_port) {
  auto const colon = word.rfind(':');
  auto address = word.substr(0, colon == std::string::npos ? 0 : colon);
  auto const digits = colon == std::string::npos ? std::string{} : word.substr(colon + 1);
  unsigned port = 0;
  auto const* end = digits.data() + digits.size();
  auto const [stopped, fault] = std::from_chars(digits.data(), end, port);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string::npos) {
    address.clear();  // an IPv6 address without brackets
  }
  if (address == "localhost") address = "127.0.0.1";
  if (address.empty() || digits.empty() || fault != std::errc{} || stopped != end || port > 65535) {
    refuse(option, "\"" + word + "\" is no ADDRESS:PORT; 127.0.0.1:8080 or [::1]:8080 are");
  }
  to_address = address;
  to_port = static_cast<std::uint16_t>(port);
}

void take_namespace(char const* option, std::string const& word) {
  if (!agones_alloc::is_namespace_name(word)) refuse(option, "\"" + word + "\" " + std::string{agones_alloc::namespace_name_wanted});
}

void take_ports(std::string const& word, server_options& options) {
  auto const dash = word.find('-');
  int min = 0;
  int max = 0;
  auto const* begin = word.data();
  auto const* end = begin + word.size();
  auto const* middle = dash == std::string::npos ? end : begin + dash;
  bool const sound = dash != std::string::npos && std::from_chars(begin, middle, min).ptr == middle &&
                     std::from_chars(middle + 1, end, max).ptr == end && min >= 1 && max <= 65535 && min <= max;
  if (!sound) refuse("--ports", "\"" + word + "\" is no range of ports; 7000-8000 is");
  options.simulator.min_port = min;
  options.simulator.max_port = max;
}

void take_share(std::string const& word, server_options& options) {
  agones_alloc::server_share share;
  auto const* begin = word.data();
  auto const* end = begin + word.size();
  auto const* slash = std::find(begin, end, '/');
  bool const sound = slash != end && std::from_chars(begin, slash, share.index).ptr == slash &&
                     std::from_chars(slash + 1, end, share.count).ptr == end && share.index < share.count && share.count <= 1024;
  if (!sound) refuse("--replica-share", "\"" + word + "\" is no I/N with I below N and N at most 1024; 0/3, 1/3 and 2/3 are");
  options.front_end.choice.prefer = share;
}

auto range_of(std::string const& option, std::string const& word) -> duration_range {
  auto const value = agones_alloc::parse_duration_range(word);
  if (!value) refuse(option, "\"" + word + "\" is no time; 2s or 1s-3s are");
  return *value;
}

auto chance_of(std::string const& option, std::string const& word) -> double {
  double value = -1;
  auto const* end = word.data() + word.size();
  auto const [stopped, fault] = std::from_chars(word.data(), end, value);
  if (fault != std::errc{} || stopped != end || !(value >= 0 && value <= 1)) {
    refuse(option, word + " is out of range: a number from 0 to 1 is wanted");
  }
  return value;
}

template <class Value, std::size_t N>
void take_word(std::string const& option, std::string const& word, Value& target,
               std::array<std::pair<std::string_view, Value>, N> const& words) {
  std::string all;
  for (auto const& [name, value] : words) {
    if (name == word) {
      target = value;
      return;
    }
    all += (all.empty() ? "" : ", ") + std::string{name};
  }
  refuse(option, "\"" + word + "\" is none of " + all);
}

void add_general(table& t, server_options& o) {
  t.group("Serving");
  t.list("fleets", "FILE|DIR", o.fleets,
         "Fleets, GameServers and policies as Agones manifests: a YAML file, or a directory of them. May be repeated. Required without a cluster");
  t.text("listen", "ADDRESS:PORT", "127.0.0.1:8080", [&o](std::string const& word) { take_listen("--listen", word, o.address, o.port); },
         "Where to listen; IPv6 in brackets, port 0 lets the system choose");
  t.text("grpc-listen", "ADDRESS:PORT", "none: no gRPC",
         [&o](std::string const& word) { take_listen("--grpc-listen", word, o.grpc.address, o.grpc.port); },
         "Where to serve gRPC, as Agones' allocator does; with --tls-cert over TLS, for whom REST is for");
  t.flag("grpc-reflection", o.grpc.reflection, "Tell gRPC clients the services and messages there are");
  t.flag("allow-plaintext-non-loopback", o.allow_plaintext_non_loopback,
         "Serve plain HTTP on addresses other than loopback: anybody who can reach the port can allocate");
  t.duration("shutdown-grace", o.shutdown_grace, nanoseconds{0}, std::chrono::hours{1},
             "How long requests in flight may take after SIGTERM or SIGINT; a second signal ends at once");
  t.duration("readiness-shutdown-duration", o.readiness_shutdown_duration, nanoseconds{0}, std::chrono::hours{1},
             "After SIGTERM: how long to go on serving while /ready fails");
}

void add_kubernetes(table& t, server_options& o) {
  auto& k = o.kubernetes;
  t.group("Kubernetes");
  t.list("kubeconfig", "FILE", k.kubeconfigs,
         "Allocate the game servers of the cluster that this kubeconfig names, in place of --fleets. May be repeated; merged as kubectl does");
  t.text("context", "NAME", "the current one", [&k](std::string const& word) { k.context = word; },
         "Which of the kubeconfig's contexts");
  t.flag("in-cluster", k.in_cluster, "Allocate the game servers of the cluster that this process is a pod of, as its service account");
  t.text("service-account-folder", "DIR", k.account_folder, [&k](std::string const& word) { k.account_folder = word; },
         "With --in-cluster: where the service account's token, ca.crt and namespace are");
  t.list("namespace", "NAME", k.namespaces, "Only game servers of this namespace. May be repeated. Default: all namespaces");
  t.flag("no-events", k.no_events, "Write no Events about allocated game servers");
  t.flag("no-node-ranking", k.no_node_ranking,
         "Do not watch the nodes. Otherwise servers on nodes that are cordoned, tainted or deleted are packed last");
  t.flag("kube-stream-lists", k.stream_lists, "List by the events that a watch begins with (WatchList), in place of pages; pages where that is not served");
  t.number("kube-connections", k.connections, 2, 4096, "Connections to the API server: allocations written at once");
}

void add_tls(table& t, server_options& o) {
  auto& s = o.tls;
  auto const names = [&t](std::string const& name, std::vector<std::string>& target, std::string const& help) {
    std::string shown;
    for (auto const& one : target) shown += (shown.empty() ? "" : ",") + one;
    t.text(name, "NAME,...", shown.empty() ? "any" : shown, [name, &target](std::string const& word) {
      target.clear();
      for (std::size_t at = 0; at <= word.size();) {
        auto const end = std::min(word.find(',', at), word.size());
        if (end == at) refuse("--" + name, "\"" + word + "\" is no list of names with commas between them");
        target.push_back(word.substr(at, end - at));
        at = end + 1;
      }
    }, help);
  };
  t.group("TLS");
  t.text("tls-cert", "FILE", "none: plain HTTP", [&s](std::string const& word) { s.certificate = word; },
         "Serve HTTPS with this certificate, PEM, followed by those that lead to its authority; read again when it changes");
  t.text("tls-key", "FILE", "none", [&s](std::string const& word) { s.key = word; }, "Its key, PEM, not encrypted");
  t.list("client-ca", "FILE|DIR", s.client_authorities,
         "Who has a certificate of these authorities may allocate: PEM files, or folders of *.crt and *.pem. May be repeated");
  t.flag("requestheader", s.front_proxy,
         "Believe the cluster's API server about who asks, by what it publishes in kube-system/extension-apiserver-authentication");
  t.text("requestheader-client-ca-file", "FILE", "none", [&s](std::string const& word) { s.front_proxy_authority = word; },
         "Believe front proxies with a certificate of this authority about who asks");
  names("requestheader-allowed-names", s.proxy.allowed_names, "Common names of such certificates");
  names("requestheader-username-headers", s.proxy.username_headers, "Fields that name the user");
  names("requestheader-uid-headers", s.proxy.uid_headers, "Fields that hold the user's UID");
  names("requestheader-group-headers", s.proxy.group_headers, "Fields that name groups");
  names("requestheader-extra-headers-prefix", s.proxy.extra_header_prefixes, "How the names of further such fields begin");
  t.list_of("allow-client", "NAME=NAMESPACE,...", [&s](std::string const& word) {
    auto rule = agones_alloc::parse_namespace_rule(word);
    if (auto const* problem = std::get_if<std::string>(&rule)) refuse("--allow-client", "\"" + word + "\": " + *problem);
    s.clients.push_back(std::get<agones_alloc::namespace_rule>(std::move(rule)));
  }, "Certificates of that name (CN:, O:, DNS:, email:, URI: or *) may allocate in these namespaces, others nowhere. May be repeated");
  t.flag("allow-anonymous", s.anybody, "Over TLS: let everybody allocate who can reach the port, certificate or not");
  t.flag("authorize-direct-callers", s.reviews,
         "Ask the API server about callers that do not come through it: whose bearer token it is, and whether they may create allocations");
  t.duration("tls-reload-interval", s.look_every, std::chrono::milliseconds{100}, std::chrono::hours{24},
             "How often the files are looked at for changes; SIGHUP does at once");
}

void add_clusters(table& t, server_options& o) {
  auto& c = o.clusters;
  auto const least = std::chrono::milliseconds{1};
  t.group("Several clusters");
  t.list("policies", "FILE|DIR", c.policies,
         "GameServerAllocationPolicies as manifests, besides those of --fleets; read again at SIGHUP. May be repeated");
  t.flag("multi-cluster", c.watch, "Watch the policies of the Kubernetes cluster, and get the Secrets they name");
  t.text("client-secrets", "DIR", "the cluster's Secrets", [&c](std::string const& word) { c.secrets = word; },
         "Client certificates for other clusters: a folder for each secretName, or below one for its namespace, with tls.crt, tls.key, ca.crt");
  t.flag("fallback-local", c.fallback_local, "When no policy's cluster has a server, allocate here, in the request's namespace");
  t.text("remote-protocol", "WORD", "rest",
         [&c](std::string const& word) {
           take_word("--remote-protocol", word, c.protocol,
                     std::array<std::pair<std::string_view, agones_alloc::remote_protocol>, 3>{
                         {{"rest", agones_alloc::remote_protocol::rest},
                          {"grpc", agones_alloc::remote_protocol::grpc},
                          {"auto", agones_alloc::remote_protocol::by_trying}}});
         },
         "How endpoints are called that do not say: rest, grpc, or auto: gRPC if a TLS handshake finds HTTP/2 there. "
         "Those that do begin with grpc:// or https://");
  t.duration("remote-allocation-timeout", c.call_time, least, std::chrono::hours{1}, "The most one call to another cluster may take");
  t.duration("remote-connect-timeout", c.connect_time, least, std::chrono::minutes{5},
             "The most such a call waits for a connection; then the next endpoint is tried");
  t.duration("remote-exhausted-for", c.exhausted_for, nanoseconds{0}, std::chrono::minutes{10},
             "So long a cluster that had nothing for a kind of request is asked after all others");
  t.duration("client-secret-age", c.secret_time, std::chrono::milliseconds{100}, std::chrono::hours{24},
             "How long a client certificate is used before its Secret is read again");
  t.number("remote-repeats", c.repeats, 0, 100,
           "Tries after a call whose answer was lost. Only where every remote honours Idempotency-Key; else two servers may be taken");
  t.number("max-hops", o.front_end.max_hops, 0, 1000, "A request that was forwarded more often is refused, and so often at most is not forwarded");
  t.list_of("remote-exhausted-code", "CODE", [&c](std::string const& word) {
    int code = 0;
    auto const* const end = word.data() + word.size();
    if (std::from_chars(word.data(), end, code).ptr != end || code < 400 || code > 599) {
      refuse("--remote-exhausted-code", word + " is out of range: a number from 400 to 599 is wanted");
    }
    c.exhausted_codes.push_back(code);
  }, "Further HTTP status with which remotes say that no server is available. May be repeated");
}

void add_allocation(table& t, server_options& o) {
  t.group("Allocation");
  t.text("feature-gates", "GATES", "CountsAndLists=true&PlayerAllocationFilter=false",
         [&o](std::string const& word) {
           auto gates = read_feature_gates(word);
           if (auto const* problem = std::get_if<std::string>(&gates)) refuse("--feature-gates", *problem);
           o.front_end.gates = std::get<agones_alloc::feature_gates>(gates);
         },
         "Agones' feature gates, as A=true&B=false");
  t.text("ranking", "WORD", "request",
         [&o](std::string const& word) {
           if (!read_ranking(word, o.front_end.choice)) {
             refuse("--ranking", "\"" + word + "\" is none of request, packed, priorities, random, newest");
           }
         },
         "Which server goes first: request (as its scheduling and priorities say), packed, priorities, random, newest");
  t.text("replica-share", "I/N", "0/1", [&o](std::string const& word) { take_share(word, o); },
         "Of N replicas of this server on one cluster this is number I, from 0: each prefers game servers of its own, so that they "
         "hardly ever meet");
  t.number("top-n", o.front_end.choice.top_n, 1, 1024, "Choose at random among the best N");
  t.flag("strict", o.front_end.strict, "Refuse unknown fields, unknown enum names, and REST requests without namespace");
  t.flag("compat", o.front_end.compatible, "Answer bad input with Agones' own codes: 500 text/plain; over REST 500 with code 422");
  t.number("http-unallocated-status-code", o.front_end.http_unallocated_status_code, 0, 599,
           "HTTP status of a REST request that finds no server", "CODE");
  t.text("default-namespace", "NAME", "none", [&o](std::string const& word) {
           if (!word.empty()) take_namespace("--default-namespace", word);
           o.front_end.default_namespace = word;
         },
         "Namespace of REST requests that name none");
  t.duration("request-timeout", o.front_end.request_time, std::chrono::milliseconds{1}, std::chrono::hours{1},
             "The most one request may take; clients may ask for less");
  t.number("max-allocations", o.max_allocations, 1, 10'000'000, "Allocations at once; one more is told Contention");
  t.number("max-writes", o.max_writes, 1, 10'000'000, "Game servers being written at once; allocations beyond it queue in order");
  t.text("action-mode", "WORD", "clamp",
         [&o](std::string const& word) {
           if (word != "clamp" && word != "exact") refuse("--action-mode", "\"" + word + "\" is neither clamp nor exact");
           o.front_end.choice.exact = word == "exact";
         },
         "What becomes of counter and list actions that do not fit: clamp, as Agones, or exact: another game server (Agones-Alloc-Action-Mode)");
  t.duration("max-wait", o.front_end.longest_wait, nanoseconds{0}, std::chrono::hours{24},
             "The most a client may wait for a server where there is none (Prefer: wait=SECONDS), beyond --request-timeout");
  t.number("max-waiting", o.max_waiting, 1, 10'000'000, "Requests that wait so at once; one more is told Contention");
  t.text("claim-expired-to", "WORD", "ready",
         [&o](std::string const& word) {
           if (word != "ready" && word != "shutdown") refuse("--claim-expired-to", "\"" + word + "\" is neither ready nor shutdown");
           o.claims.expired_to = word == "ready" ? agones_alloc::release_to::ready : agones_alloc::release_to::shutdown;
         },
         "Where a game server goes whose claim nobody has confirmed in time (Agones-Alloc-Claim-TTL): ready, to be allocated again, or shutdown");
  t.duration("remember-ids", o.claims.remember, nanoseconds{0}, std::chrono::hours{24 * 365},
             "How long a request's id (Idempotency-Key) gets the same game server again");
  t.flag("no-claim-sweep", o.leave_claims, "Leave it to other servers to end claims that nobody has confirmed");
  t.number("max-request-shapes", o.max_shapes, 1, 1'000'000,
           "Kinds of requests (namespace, selector, order) with an index each; the one unused for longest goes first");
}

void take_gate(std::string const& word, server_options& o) {
  agones_alloc::field_errors problems;
  agones_alloc::gate_settings read;
  change_gate(read, word, "--gate", problems);
  if (!problems.empty()) throw CLI::ValidationError{to_string(problems)};  // each begins with it
  o.gate.otherwise = read;
}

void add_gate(table& t, server_options& o) {
  t.group("Readiness gate");
  t.text("gate", "TEXT", "off", [&o](std::string const& word) { take_gate(word, o); },
         "How games show that players can join, where neither request nor fleet says: \"watch; timeout=20s\", ...; see docs/gate.md");
  t.text("gate-owner", "NAME", "drawn",
         [&o](std::string const& word) {
           auto const plain = std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < '\x7f'; });
           if (!plain || word.size() > 128) refuse("--gate-owner", "at most 128 visible characters of ASCII are wanted");
           o.gate.owner = word;
         },
         "Name of this server among those that share the game servers; with the same one it carries its own on at once after a restart");
  t.duration("gate-takeover", o.gate.limits.takeover, std::chrono::milliseconds{1}, std::chrono::minutes{10},
             "How long another server has for what is due at one of its pending game servers, before this one does it");
  t.flag("no-gates", o.no_gates, "Refuse requests that ask for a gate, and leave pending game servers to other servers");
}

void add_fleets(table& t, server_options& o) {
  t.group("Simulated fleets");
  t.number("nodes", o.simulator.node_count, 1, 100'000, "Nodes to begin with");
  t.number("max-nodes", o.simulator.max_nodes, 1, 100'000, "Nodes are added up to this many while all are full");
  t.number("node-capacity", o.simulator.node_capacity, 1, 10'000, "Game servers on one node");
  t.text("node-prefix", "TEXT", o.simulator.node_prefix, [&o](std::string const& word) { o.simulator.node_prefix = word; },
         "What the names of the nodes begin with; their number follows");
  t.text("node-address", "IPV4", o.simulator.first_address, [&o](std::string const& word) { o.simulator.first_address = word; },
         "Address of the first node, counted up for the others");
  t.flag("same-address", o.simulator.same_address, "Give every node the address of the first");
  t.text("ports", "MIN-MAX", "7000-8000", [&o](std::string const& word) { take_ports(word, o); },
         "Host ports handed out, unique within a node");
  t.text("start-up", "TIME|MIN-MAX", agones_alloc::to_string(o.simulator.settings.start_up),
         [&o](std::string const& word) { o.simulator.settings.start_up = range_of("--start-up", word); },
         "From a server's creation to Ready; annotation agones-alloc.dev/start-up overrides it");
  t.text("session-length", "TIME|MIN-MAX|never", agones_alloc::to_string(*o.simulator.settings.session_length),
         [&o](std::string const& word) {
           if (word == "never") {
             o.simulator.settings.session_length.reset();
           } else {
             o.simulator.settings.session_length = range_of("--session-length", word);
           }
         },
         "From Allocated to Shutdown; annotation agones-alloc.dev/session-length overrides it");
  t.text("session-start", "TIME|MIN-MAX|never", "0s",
         [&o](std::string const& word) {
           if (word == "never") {
             o.simulator.settings.session_start.reset();
           } else {
             o.simulator.settings.session_start = range_of("--session-start", word);
           }
         },
         "From pending, at a readiness gate, to the game's answer; annotation agones-alloc.dev/session-start overrides it");
  t.text("shut-down", "TIME|MIN-MAX", agones_alloc::to_string(o.simulator.settings.shut_down),
         [&o](std::string const& word) { o.simulator.settings.shut_down = range_of("--shut-down", word); },
         "From Shutdown, Error or Unhealthy to a server's end; annotation agones-alloc.dev/shut-down overrides it");
  t.text("start-failure", "CHANCE", "0",
         [&o](std::string const& word) { o.simulator.settings.start_failure = chance_of("--start-failure", word); },
         "Chance of a server to become Unhealthy in place of Ready; annotation agones-alloc.dev/start-failure overrides it");
  t.text("session-start-failure", "CHANCE", "0",
         [&o](std::string const& word) { o.simulator.settings.session_start_failure = chance_of("--session-start-failure", word); },
         "Chance of that answer to be that it failed; annotation agones-alloc.dev/session-start-failure overrides it");
  t.text("speed", "FACTOR", "1",
         [&o](std::string const& word) {
           double value = 0;
           auto const* end = word.data() + word.size();
           auto const [stopped, fault] = std::from_chars(word.data(), end, value);
           if (fault != std::errc{} || stopped != end || !(value > 0) || value > 1e6) {
             refuse("--speed", word + " is out of range: a number above 0 and at most 1000000 is wanted");
           }
           o.simulator.speed = value;
         },
         "Simulated seconds in a second");
  t.number("max-servers", o.simulator.max_servers, 1, 10'000'000, "Game servers alive at once; at the bound none is created");
  t.flag("no-cluster-api", o.no_cluster_api,
         "Do not serve the fleets as a small Kubernetes cluster: no kubectl get, scale and delete, allocations only");
  t.number("max-watches", o.max_watches, 1, 100'000, "Watches of that cluster at once; one more is told 429");
  t.number("seed", o.simulator.seed, 0, std::numeric_limits<std::uint64_t>::max(),
           "Of everything random: the same seed gives the same fleets");
}

void add_directory(table& t, server_options& o) {
  auto& d = o.directory;
  auto const least = std::chrono::milliseconds{1};
  t.group("Fleet information");
  t.flag("no-fleet-directory", d.off, "Serve no /v1/fleets and /v1/gameservers, and keep no account of fleets");
  t.list_of("cors-origin", "ORIGIN", [&o](std::string const& word) {
    if (!agones_alloc::is_origin(word)) {
      refuse("--cors-origin", "\"" + word + "\" is no origin as browsers send it; https://play.example and http://localhost:3000 are");
    }
    o.front_end.allowed_origins.push_back(word);
  }, "Pages of this origin may read fleet information. May be repeated. Default: no other host's");
  t.flag("no-remote-fleets", d.local_only, "Do not listen to the fleets of the clusters that policies name");
  t.duration("remote-fleets-retry", d.unserved_retry, least, std::chrono::hours{24},
             "How soon a cluster is asked again that has no fleet information, or does not let this one look");
  t.text("cluster-name", "NAME", "by a policy, else local", [&d](std::string const& word) { d.cluster = word; }, "What this cluster is called there");
  t.duration("fleet-interval", d.interval, nanoseconds{0}, std::chrono::minutes{10},
             "Between two changes of one fleet that a stream is told; what happens in between is told as one");
  t.number("max-streams", d.streams, 1, 1'000'000, "Streams open at once, at most three quarters of --max-connections; one more is 503");
  t.number("max-streams-per-client", d.streams_per_caller, 1, 1'000'000, "Of a client that has shown who it is; the same");
  t.duration("stream-heartbeat", d.heartbeat, std::chrono::milliseconds{10}, std::chrono::hours{1}, "The longest silence of a stream");
  t.duration("stream-time", d.stream_time, least, std::chrono::hours{24 * 365}, "Then a stream ends; clients come again by themselves");
}

void add_limits(table& t, server_options& o) {
  auto& l = o.limits;
  auto const least = std::chrono::milliseconds{10};
  auto const most = std::chrono::hours{24};
  t.group("Limits");
  t.number("max-connections", l.connections, 1, 1'000'000, "Open connections; above, the one waiting longest for its client goes");
  t.number("max-requests-per-client", o.requests_per_client, 0, 10'000'000,
           "Requests of one client (user, certificate or address) at once; one more is told to try again. 0: no bound");
  t.number("max-header-bytes", l.header_bytes, 256, 1 << 20, "Request line and fields; more is 431", "BYTES");
  t.number("max-body-bytes", l.body_bytes, 1, 1 << 28, "Body; more is 413", "BYTES");
  t.number("max-yaml-bytes", o.front_end.yaml_body_bytes, 1, 1 << 28, "The same for a body of YAML, which takes longer to read", "BYTES");
  t.number("max-selectors", o.front_end.max_selectors, 1, 10'000,
           "Selectors of a request, preferred ones too; more is 422, over REST 400");
  t.number("max-priorities", o.front_end.max_priorities, 1, 10'000, "Priorities of a request; the same");
  t.number("max-label-values", o.front_end.max_label_values, 1, 10'000, "Values of one matchExpression; the same");
  t.duration("handshake-timeout", l.handshake_time, least, most, "For a TLS handshake; then closed");
  t.duration("header-timeout", l.header_time, least, most, "From a request's first byte to the end of its header; then 408");
  t.duration("body-timeout", l.body_time, least, most, "From there to the end of its body; then 408");
  t.duration("idle-timeout", l.idle_time, least, most, "Between the requests of a connection");
  t.duration("write-timeout", l.write_time, least, most, "For a client to take its answer");
}

void add_events(table& t, server_options& o) {
  t.group("Events");
  t.list_of("event-sink", "SINK", [&o](std::string const& word) {
    auto sink = parse_event_sink(word);
    // What may be a secret is not repeated.
    auto const shown = word.find('@') == std::string::npos ? "\"" + word + "\": " : std::string{"such a URL "};
    if (auto const* problem = std::get_if<std::string>(&sink)) refuse("--event-sink", shown + *problem);
    auto& made = o.event_sinks.emplace_back(std::get<event_sink_settings>(std::move(sink)));
    auto const first = std::find_if(o.event_sinks.begin(), o.event_sinks.end(), [&made](event_sink_settings const& one) {
      return one.channel.name == made.channel.name;
    });
    if (&*first != &made) refuse("--event-sink", "\"" + word + "\": another sink is named " + made.channel.name + ", too; add name=NAME");
  }, "Tell a webhook, NATS or standard output (stdout:) what happens to game servers and fleets: \"URL NAME=VALUE ...\". May be repeated");
  t.text("event-source", "URI", o.event_source, [&o](std::string const& word) {
    auto const blank = std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
    if (word.empty() || blank) refuse("--event-source", "\"" + word + "\" is no URI reference");
    o.event_source = word;
  }, "Attribute source of these events; the same for all replicas on one cluster");
  t.duration("event-fleet-interval", o.event_fleet_interval, std::chrono::milliseconds{50}, std::chrono::hours{1},
             "How often fleets are looked at for changes, if a sink wants their events");
  t.duration("event-grace", o.event_grace, nanoseconds{0}, std::chrono::hours{1},
             "After SIGTERM, when requests have ended: how long events that wait may take to be sent");
  t.text("event-state", "FILE", "none", [&o](std::string const& word) { o.event_state = word; },
         "Keep in this file what the sinks have been told of, and go on from there after a restart; for a cluster's game servers");
  t.duration("event-state-interval", o.event_state_interval, std::chrono::milliseconds{100}, std::chrono::hours{1},
             "How often that file is written, besides at the end");
}

void add_page(table& t, server_options& o) {
  t.group("Live page");
  t.flag("no-page", o.no_page, "Serve no page for people at /");
}

void add_logging(table& t, server_options& o) {
  using agones_alloc::severity;
  t.group("Logging");
  t.text("log-format", "text|json", "text",
         [&o](std::string const& word) {
           take_word("--log-format", word, o.format,
                     std::array<std::pair<std::string_view, log_format>, 2>{{{"text", log_format::text}, {"json", log_format::json}}});
         },
         "Lines for people, or one JSON object a line");
  t.text("log-level", "LEVEL", "info",
         [&o](std::string const& word) {
           take_word("--log-level", word, o.level,
                     std::array<std::pair<std::string_view, severity>, 4>{{{"debug", severity::debug},
                                                                           {"info", severity::info},
                                                                           {"warning", severity::warning},
                                                                           {"error", severity::error}}});
         },
         "debug, info, warning or error; debug has a line for each request");
}

/// What only makes sense together.
auto check(server_options const& o) -> std::optional<std::string> {
  auto const& k = o.kubernetes;
  if (k.in_cluster && !k.kubeconfigs.empty()) return "--in-cluster and --kubeconfig exclude each other";
  if (k.used() && !o.fleets.empty()) return "--fleets is of embedded fleets, and makes no sense with a cluster";
  for (auto const& one : k.namespaces) {
    if (!agones_alloc::is_namespace_name(one)) return "--namespace: \"" + one + "\" " + std::string{agones_alloc::namespace_name_wanted};
  }
  if (!k.used() && !k.namespaces.empty()) return "--namespace is of a cluster: --kubeconfig or --in-cluster is needed";
  if (k.kubeconfigs.empty() && !k.context.empty()) return "--context needs --kubeconfig";
  if (!k.used() && o.fleets.empty()) {
    return "--fleets is required: a YAML file or a directory with Agones Fleet manifests; or --kubeconfig FILE, for a cluster";
  }
  if (auto const problem = grpc_problem(); o.clusters.protocol != agones_alloc::remote_protocol::rest && !problem.empty()) {
    return (o.clusters.protocol == agones_alloc::remote_protocol::grpc ? "--remote-protocol grpc: " : "--remote-protocol auto: ") + problem;
  }
  if (o.clusters.watch && !o.clusters.policies.empty()) return "--multi-cluster and --policies exclude each other";
  if (!k.used() && o.clusters.watch) return "--multi-cluster is of a cluster: --kubeconfig or --in-cluster is needed; --policies does without";
  if (!o.event_state.empty() && o.event_sinks.empty()) return "--event-state is of events: --event-sink is needed";
  if (!o.event_state.empty() && !k.used()) {
    return "--event-state: embedded fleets end with the process, there is nothing to go on from; it needs --kubeconfig or --in-cluster";
  }
  auto const& tls = o.tls;
  if (!tls.clients.empty() && tls.client_authorities.empty()) return "--allow-client is about certificates: --client-ca is needed";
  if (tls.certificate.empty() != tls.key.empty()) return "--tls-cert and --tls-key are wanted together";
  if (!tls.used() && (!tls.client_authorities.empty() || tls.trusts_proxy() || tls.anybody || tls.reviews)) {
    return "--client-ca, --requestheader, --requestheader-client-ca-file, --allow-anonymous and --authorize-direct-callers need --tls-cert";
  }
  if (tls.front_proxy && !tls.front_proxy_authority.empty()) {
    return "--requestheader and --requestheader-client-ca-file exclude each other";
  }
  if (tls.front_proxy && !k.used()) return "--requestheader asks a cluster: --kubeconfig or --in-cluster is needed";
  if (tls.reviews && !k.used()) return "--authorize-direct-callers asks a cluster: --kubeconfig or --in-cluster is needed";
  if (tls.reviews && tls.anybody) return "--authorize-direct-callers and --allow-anonymous exclude each other";
  if (tls.used() && tls.client_authorities.empty() && !tls.trusts_proxy() && !tls.anybody && !tls.reviews) {
    return "--tls-cert: who may allocate? --client-ca, --requestheader, --requestheader-client-ca-file, --authorize-direct-callers or "
           "--allow-anonymous says so";
  }
  for (auto const& [option, address] : {std::pair{"--listen: ", &o.address}, {"--grpc-listen: ", &o.grpc.address}}) {
    bool const loopback = address->empty() || address->starts_with("127.") || *address == "::1";
    if (!loopback && !tls.used() && !o.allow_plaintext_non_loopback) {
      return option + *address +
             " is not a loopback address; plain HTTP there lets anybody allocate who can reach it: add --allow-plaintext-non-loopback if "
             "that is meant";
    }
  }
  if (o.grpc.reflection && !o.grpc.used()) return "--grpc-reflection needs --grpc-listen";
  if (auto const problem = grpc_problem(); o.grpc.used() && !problem.empty()) return "--grpc-listen: " + problem;
  if (auto const problem = grpc_problem(); o.gate.otherwise.source == agones_alloc::gate_source::grpc && !problem.empty()) {
    return "--gate.source: grpc: " + problem;
  }
  if (o.simulator.max_nodes < o.simulator.node_count) return "--max-nodes: must not be smaller than --nodes";
  if (auto const problems = validate(o.simulator); !problems.empty()) return "simulated fleets: " + to_string(problems);
  return std::nullopt;
}

auto failure(std::string const& text) -> early_exit { return {2, "agones-alloc-server: " + text + " (--help tells more)\n"}; }

}  // namespace

auto server_options::speaks_by_log() const -> bool {
  return format == log_format::json || std::any_of(event_sinks.begin(), event_sinks.end(), [](event_sink_settings const& one) {
           return one.what == event_sink_settings::kind::standard_output;
         });
}

auto read_ranking(std::string_view word, agones_alloc::choice_options& choice) -> bool {
  using agones_alloc::order_kind;
  static constexpr std::array<std::pair<std::string_view, order_kind>, 4> words{{{"packed", order_kind::packed},
                                                                                {"priorities", order_kind::by_priorities},
                                                                                {"random", order_kind::random},
                                                                                {"newest", order_kind::newest_first}}};
  if (word == "request") {
    choice.order.reset();
    return true;
  }
  for (auto const& [name, kind] : words) {
    if (name == word) {
      choice.order = kind;
      return true;
    }
  }
  return false;
}

auto read_options(int argc, char const* const* argv) -> std::variant<server_options, early_exit> {
  server_options options;
  CLI::App app{"Allocates Agones game servers: from embedded, simulated fleets, where no cluster is needed, or of a Kubernetes cluster.\n", "agones-alloc-server"};
  app.set_help_flag("--help,-h", "This text")->group("General");
  app.set_version_flag("--version", std::string{"agones-alloc-server "} + AGONES_ALLOC_VERSION)->group("General");
  app.set_config("--config", "", "Read options from this file, TOML or INI: a line each, as max-connections=100")
      ->group("General")
      ->envname("AGONES_ALLOC_CONFIG");
  app.allow_config_extras(false);
  app.footer(
      "\nEvery option may also be given in the configuration file, and as an environment variable: --log-level is AGONES_ALLOC_LOG_LEVEL.\n"
      "The command line goes before the file, the file before the environment. Times are written 500ms, 10s, 1m30s.\n"
      "\nExit codes: 0 after SIGTERM or SIGINT, 1 when it cannot serve (port in use), 2 for wrong options or fleets.\n"
      "\nExamples:\n  agones-alloc-server --fleets examples/fleets.yaml --listen 127.0.0.1:8080\n  agones-alloc-server --kubeconfig ~/.kube/config --namespace games");
  app.get_formatter()->column_width(46);
  table t{app};
  add_general(t, options);
  add_kubernetes(t, options);
  add_tls(t, options);
  add_clusters(t, options);
  add_allocation(t, options);
  add_gate(t, options);
  add_fleets(t, options);
  add_directory(t, options);
  add_events(t, options);
  add_limits(t, options);
  add_page(t, options);
  add_logging(t, options);
  auto const given = arguments(argc, argv);
  if (names_no_config(given)) return failure("--config: must not be empty");
  try {
    app.parse(std::vector<std::string>(given.rbegin(), given.rend()));  // it takes them from the back
  } catch (CLI::CallForHelp const&) {
    return early_exit{0, app.help()};
  } catch (CLI::CallForVersion const&) {
    return early_exit{0, std::string{"agones-alloc-server "} + AGONES_ALLOC_VERSION + "\n"};
  } catch (CLI::FileError const&) {
    auto const path = app.get_config_ptr() != nullptr ? app.get_config_ptr()->as<std::string>() : std::string{};
    return failure("--config: cannot read " + path);
  } catch (CLI::ConfigError const& problem) {
    return failure(config_problem(problem.what(), given));
  } catch (CLI::Error const& problem) {
    return failure(with_place(problem.what(), given));
  }
  std::set<std::string> known;
  for (auto const* const option : app.get_options()) known.insert(option->get_envname());
  options.unknown_variables = unknown_variables(known);
  if (auto const problem = check(options)) return failure(*problem);
  if (!agones_alloc::unallocated_code_for(options.front_end.http_unallocated_status_code).known) {
    return failure("--http-unallocated-status-code: " + std::to_string(options.front_end.http_unallocated_status_code) +
                   " has no gRPC code; 200, 400, 401, 403, 404, 409, 429, 499, 500, 501, 503 and 504 have");
  }
  return options;
}

}  // namespace agones_alloc_server
