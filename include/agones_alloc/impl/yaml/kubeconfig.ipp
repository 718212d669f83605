#pragma once

#include <agones_alloc/impl/yaml/kubeconfig_entry.ipp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

using kubeconfig_files = std::vector<kubeconfig_file>;

/// The first entry of that name in `list` (clusters, users, contexts); its body is the member `what`.
inline auto find_entry(kubeconfig_files const& files, std::string_view list, std::string_view what,
                       std::string_view name, problems& errors) -> std::optional<kube_entry> {
  for (auto const& file : files) {
    kube_entry const root{file, &file.content.value, {}, errors};
    auto const* const entries = root.list(list);
    if (entries == nullptr) continue;
    for (std::size_t i = 0; i < entries->size(); ++i) {
      auto const entry = root.element(list, i, (*entries)[i]);
      if (entry.text("name") == name) return entry.child(what);
    }
  }
  return {};
}

inline void read_server(kube_entry const& cluster, kube_target& out) {
  auto const url = cluster.text("server");
  auto const fail = [&](std::string why) { cluster.fail("server", std::move(why)); };
  if (url.empty()) return fail("is missing");
  std::string_view rest = url;
  constexpr std::string_view secure = "https://";
  constexpr std::string_view plain = "http://";
  out.tls = rest.substr(0, secure.size()) == secure;
  if (!out.tls && rest.substr(0, plain.size()) != plain) return fail("must start with https:// or http://");
  rest.remove_prefix(out.tls ? secure.size() : plain.size());
  bool const bad = std::any_of(rest.begin(), rest.end(), [](char c) { return c <= 0x20 || c >= 0x7f; });
  if (bad || rest.find_first_of("?#@\\") != std::string_view::npos) {
    return fail("is no plain URL of host, port and path");
  }
  auto const slash = std::min(rest.find('/'), rest.size());
  auto path = rest.substr(slash);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  out.base_path = path;

  auto authority = rest.substr(0, slash);
  if (!authority.empty() && authority.front() == '[') {
    auto const end = authority.find(']');
    if (end == std::string_view::npos) return fail("has a '[' without its ']'");
    out.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
  } else {
    auto const colon = std::min(authority.find(':'), authority.size());
    out.host = authority.substr(0, colon);
    authority.remove_prefix(colon);
  }
  if (out.host.empty()) return fail("names no host");
  out.port = out.tls ? 443 : 80;
  if (authority.empty()) return;
  auto const digits = authority.substr(1);
  auto const [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  bool const number = ec == std::errc{} && end == digits.data() + digits.size() && out.port != 0;
  if (authority.front() != ':' || !number) fail("has a port that is none");
}

inline void read_cluster(kube_entry const& cluster, kube_target& out) {
  read_server(cluster, out);
  if (!cluster.text("proxy-url").empty()) cluster.fail("proxy-url", "proxies are not supported");
  out.ca = cluster.pem("certificate-authority");
  out.tls_server_name = cluster.text("tls-server-name");
  out.insecure_skip_tls_verify = cluster.flag("insecure-skip-tls-verify");
  if (out.insecure_skip_tls_verify && out.ca.given()) {
    cluster.fail("insecure-skip-tls-verify", "contradicts the certificate authority given");
  }
}

inline auto read_exec(kube_entry const& exec) -> exec_plugin {
  exec_plugin out;
  out.api_version = exec.text("apiVersion");
  bool const v1 = out.api_version == "client.authentication.k8s.io/v1";
  if (!v1 && out.api_version != "client.authentication.k8s.io/v1beta1") {
    exec.fail("apiVersion", "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  }
  out.command = exec.text("command");
  if (out.command.empty()) exec.fail("command", "is missing");
  if (out.command.find('/') != std::string::npos) out.command = exec.path("command");
  if (auto const* const args = exec.list("args")) {
    for (auto const& one : *args) {
      if (!one.is_string()) {
        exec.fail("args", "must be a list of strings");
        break;
      }
      out.args.emplace_back(one.get_string());
    }
  }
  if (auto const* const env = exec.list("env")) {
    for (std::size_t i = 0; i < env->size(); ++i) {
      auto const one = exec.element("env", i, (*env)[i]);
      auto name = one.text("name");
      if (name.empty() || name.find('=') != std::string::npos) one.fail("name", "is no name of a variable");
      out.env.emplace_back(std::move(name), one.text("value"));
    }
  }
  out.install_hint = exec.text("installHint");
  out.provide_cluster_info = exec.flag("provideClusterInfo");
  auto const mode = exec.text("interactiveMode");
  if (mode == "Always") {
    exec.fail("interactiveMode", "there is no terminal to ask at: must be Never or IfAvailable");
  } else if (mode != "Never" && mode != "IfAvailable" && (v1 || !mode.empty())) {
    exec.fail("interactiveMode", "must be Never or IfAvailable");
  }
  // A NUL would end what the program sees; YAML lets none in but through escapes.
  auto const nul = [](std::string const& text) { return text.find('\0') != std::string::npos; };
  bool const cut = nul(out.command) || std::any_of(out.args.begin(), out.args.end(), nul) ||
                   std::any_of(out.env.begin(), out.env.end(), [&](auto const& e) { return nul(e.first) || nul(e.second); });
  if (cut) exec.fail({}, "holds a NUL character");
  return out;
}

inline void read_user(kube_entry const& user, kube_target& out) {
  for (auto const* name : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.has(name)) user.fail(name, "impersonation is not supported");
  }
  if (user.has("auth-provider")) user.fail("auth-provider", "is not supported: use an exec plugin");
  out.certificate = user.pem("client-certificate");
  out.key = user.pem("client-key");
  if (out.certificate.given() != out.key.given()) {
    user.fail(out.key.given() ? "client-key" : "client-certificate", "needs both the certificate and its key");
  }
  out.token = user.text("token");
  out.token_file = user.path("tokenFile");
  out.username = user.text("username");
  out.password = user.text("password");
  if (user.has("exec")) out.exec = read_exec(user.child("exec"));
  bool const token = !out.token.empty() || !out.token_file.empty();
  bool const basic = !out.username.empty() || !out.password.empty();
  if (static_cast<int>(token) + static_cast<int>(basic) + static_cast<int>(out.exec.has_value()) > 1) {
    user.fail({}, "more than one of token, username and exec");
  }
  auto const spoils = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
  if (std::any_of(out.token.begin(), out.token.end(), spoils)) user.fail("token", "holds a control character");
}

inline void choose(kubeconfig_files const& files, std::string_view wanted, kubeconfig& out) {
  auto& target = out.target;
  auto const& first = files.front();
  target.context = wanted;
  auto const* named_in = &first;
  for (auto const& file : files) {
    if (!target.context.empty()) break;
    named_in = &file;
    target.context = kube_entry{file, &file.content.value, {}, out.errors}.text("current-context");
  }
  if (!out.errors.empty()) return;
  auto const fail = [&](kubeconfig_file const& file, std::string field, std::string message) {
    out.errors.push_back({file.name, file.content.line_of(field), std::move(field), std::move(message)});
  };
  if (target.context.empty()) return fail(first, "current-context", "names no context, and none was asked for");
  auto const context = find_entry(files, "contexts", "context", target.context, out.errors);
  if (!context) {
    if (!out.errors.empty()) return;
    bool const asked = !wanted.empty();
    return fail(*named_in, asked ? "contexts" : "current-context", "there is no context \"" + target.context + "\"");
  }
  target.cluster = context->text("cluster");
  target.user = context->text("user");
  if (auto const name = context->text("namespace"); !name.empty()) target.default_namespace = name;
  if (target.cluster.empty()) return context->fail("cluster", "is missing");
  auto const cluster = find_entry(files, "clusters", "cluster", target.cluster, out.errors);
  if (!cluster) return context->fail("cluster", "there is no cluster \"" + target.cluster + "\"");
  read_cluster(*cluster, target);
  if (target.user.empty()) return;  // nobody in particular
  auto const user = find_entry(files, "users", "user", target.user, out.errors);
  if (!user) return context->fail("user", "there is no user \"" + target.user + "\"");
  read_user(*user, target);
}

}  // namespace detail

AGONES_ALLOC_DECL auto read_kubeconfig(std::vector<kubeconfig_text> const& texts, std::string_view context) -> kubeconfig {
  kubeconfig out;
  detail::kubeconfig_files files;
  limits bounds;
  bounds.max_bytes = bounds.max_expanded_bytes = detail::most_kubeconfig_bytes;
  bounds.max_documents = 1;
  for (auto const& one : texts) {
    auto read = parse(one.text, one.file, bounds);
    out.errors.insert(out.errors.end(), read.errors.begin(), read.errors.end());
    if (!read.errors.empty() || read.values.empty()) continue;
    if (!read.values.front().value.is_object()) {
      out.errors.push_back({one.file, 1, {}, "is no kubeconfig: a map is expected"});
      continue;
    }
    files.push_back({one.file, std::move(read.values.front())});
  }
  if (out.errors.empty() && files.empty()) {
    out.errors.push_back({texts.empty() ? std::string{} : texts.front().file, 0, {}, "there is no configuration"});
  }
  if (out.errors.empty()) detail::choose(files, context, out);
  if (!out.errors.empty()) out.target = {};
  return out;
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
