#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace yaml = agones_alloc::yaml;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

auto whole(std::string_view cluster, std::string_view user) -> std::string {
  std::string out = "current-context: here\ncontexts:\n- name: here\n  context: {cluster: c, user: u, namespace: games}\n";
  out.append("clusters:\n- name: c\n  cluster:\n    ").append(cluster).append("\n");
  out.append("users:\n- name: u\n  user:\n    ").append(user).append("\n");
  return out;
}

auto read(std::string const& text, std::string_view context = {}) -> yaml::kubeconfig {
  return yaml::read_kubeconfig({{"/etc/kube/config", text}}, context);
}

/// The problems, one a line.
auto problems_of(std::string const& text, std::string_view context = {}) -> std::string {
  auto const got = read(text, context);
  std::string out;
  for (auto const& one : got.errors) out += to_string(one) + "\n";
  CHECK(got.target.host.empty() == !got.errors.empty());
  return out;
}

auto problem_of_server(std::string const& url) -> std::string {
  auto const all = problems_of(whole("server: " + url, "token: t"));
  return all.substr(all.find(": clusters") + 2);
}

}  // namespace

TEST_CASE("a context is its cluster, its user and its namespace") {
  auto const data = agones_alloc::encode_base64(pem);
  auto const got = read(whole("{server: 'https://10.0.0.1:6443/k8s/', certificate-authority-data: " + data +
                                  ", tls-server-name: api}",
                              "{client-certificate: pki/me.crt, client-key: /abs/me.key, token: abc}"));
  REQUIRE(got.ok());
  auto const& t = got.target;
  CHECK(t.context == "here");
  CHECK(t.cluster == "c");
  CHECK(t.user == "u");
  CHECK(t.default_namespace == "games");
  CHECK(t.tls);
  CHECK(t.host == "10.0.0.1");
  CHECK(t.port == 6443);
  CHECK(t.base_path == "/k8s");
  CHECK(t.ca.pem == pem);
  CHECK(t.tls_server_name == "api");
  CHECK_FALSE(t.insecure_skip_tls_verify);
  CHECK(t.certificate.file == "/etc/kube/pki/me.crt");
  CHECK(t.key.file == "/abs/me.key");
  CHECK(t.token == "abc");
  CHECK_FALSE(t.exec);
}

TEST_CASE("servers are http or https URLs of host, port and path") {
  auto const target = [](std::string const& url) {
    auto const got = read(whole("server: " + url, "{}"));
    REQUIRE(got.ok());
    return (got.target.tls ? "tls " : "plain ") + got.target.host + " " + std::to_string(got.target.port) + " " +
           got.target.base_path;
  };
  CHECK(target("https://api.example.com") == "tls api.example.com 443 ");
  CHECK(target("http://localhost:8001/") == "plain localhost 8001 ");
  CHECK(target("http://h") == "plain h 80 ");
  CHECK(target("'https://[2001:db8::1]:6443/a/b'") == "tls 2001:db8::1 6443 /a/b");
  CHECK(target("'https://[::1]'") == "tls ::1 443 ");
  CHECK(problem_of_server("api:6443") == "clusters[0].cluster.server: must start with https:// or http://\n");
  CHECK(problem_of_server("https://") == "clusters[0].cluster.server: names no host\n");
  CHECK(problem_of_server("https://h:0") == "clusters[0].cluster.server: has a port that is none\n");
  CHECK(problem_of_server("https://h:65536") == "clusters[0].cluster.server: has a port that is none\n");
  CHECK(problem_of_server("https://h:1x") == "clusters[0].cluster.server: has a port that is none\n");
  CHECK(problem_of_server("'https://[::1'") == "clusters[0].cluster.server: has a '[' without its ']'\n");
  CHECK(problem_of_server("'https://[::1]6'") == "clusters[0].cluster.server: has a port that is none\n");
  CHECK(problem_of_server("https://me:secret@h") ==
        "clusters[0].cluster.server: is no plain URL of host, port and path\n");
  CHECK(problem_of_server("'https://h/a b'") == "clusters[0].cluster.server: is no plain URL of host, port and path\n");
  CHECK(problem_of_server("17") == "clusters[0].cluster.server: must be a string\n"
                                   "/etc/kube/config:8: clusters[0].cluster.server: is missing\n");
}

TEST_CASE("another context can be asked for, and only what is chosen is judged") {
  std::string const text = R"(
contexts:
- {name: a, context: {cluster: good, user: ''}}
- {name: b, context: {cluster: bad}}
- {name: c, context: {cluster: nowhere}}
- {name: d, context: {}}
- {name: e, context: {cluster: good, user: nobody}}
clusters:
- {name: good, cluster: {server: 'https://good'}}
- {name: bad, cluster: {server: 'ftp://bad', proxy-url: 'socks5://x'}}
)";
  auto const good = read(text, "a");
  CHECK(good.ok());
  CHECK(good.target.default_namespace == "default");
  CHECK(problems_of(text, "b") ==
        "/etc/kube/config:10: clusters[1].cluster.server: must start with https:// or http://\n"
        "/etc/kube/config:10: clusters[1].cluster.proxy-url: proxies are not supported\n");
  CHECK(problems_of(text, "c") == "/etc/kube/config:5: contexts[2].context.cluster: there is no cluster \"nowhere\"\n");
  CHECK(problems_of(text, "d") == "/etc/kube/config:6: contexts[3].context.cluster: is missing\n");
  CHECK(problems_of(text, "e") == "/etc/kube/config:7: contexts[4].context.user: there is no user \"nobody\"\n");
  CHECK(problems_of(text, "z") == "/etc/kube/config:2: contexts: there is no context \"z\"\n");
  CHECK(problems_of(text).find("current-context: names no context") != std::string::npos);
  CHECK(problems_of("current-context: x\n") ==
        "/etc/kube/config:1: current-context: there is no context \"x\"\n");
}

TEST_CASE("of several files the first to define a name wins, each with its own folder") {
  yaml::kubeconfig_text const a{"/a/config", "current-context: ''\nusers:\n- {name: u, user: {tokenFile: token}}\n"};
  yaml::kubeconfig_text const b{"/b/config", whole("{server: 'https://b', certificate-authority: ca.crt}", "{token: b}")};
  yaml::kubeconfig_text const c{"/c/config", whole("server: 'https://c'", "{token: c}") + "preferences: {}\n"};
  auto const got = yaml::read_kubeconfig({a, b, c});
  REQUIRE(got.ok());
  CHECK(got.target.host == "b");
  CHECK(got.target.ca.file == "/b/ca.crt");
  CHECK(got.target.token_file == "/a/token");
  CHECK(got.target.token.empty());
}

TEST_CASE("exec plugins are read whole") {
  auto const got = read(whole("server: https://h", R"(exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/get-token
      args: [--cluster, 'x y']
      env:
      - {name: REGION, value: eu}
      - {name: EMPTY}
      installHint: install it
      provideClusterInfo: true
      interactiveMode: IfAvailable)"));
  REQUIRE(got.ok());
  REQUIRE(got.target.exec);
  auto const& e = *got.target.exec;
  CHECK(e.api_version == "client.authentication.k8s.io/v1");
  CHECK(e.command == "/etc/kube/bin/get-token");
  CHECK(e.args == std::vector<std::string>{"--cluster", "x y"});
  CHECK(e.env == std::vector<std::pair<std::string, std::string>>{{"REGION", "eu"}, {"EMPTY", ""}});
  CHECK(e.install_hint == "install it");
  CHECK(e.provide_cluster_info);
  auto const beta = read(whole("server: https://h",
                               "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get-token}"));
  REQUIRE(beta.ok());
  CHECK(beta.target.exec->command == "get-token");
}

TEST_CASE("what cannot be done is refused by its name") {
  auto const user = [](std::string const& text) {
    auto const all = problems_of(whole("server: https://h", text));
    return all;
  };
  std::string const at = "/etc/kube/config:12: users[0].user";
  CHECK(user("auth-provider: {name: gcp}") == at + ".auth-provider: is not supported: use an exec plugin\n");
  CHECK(user("as: admin") == at + ".as: impersonation is not supported\n");
  CHECK(user("as-groups: [x]") == at + ".as-groups: impersonation is not supported\n");
  CHECK(user("client-certificate: a") == at + ".client-certificate: needs both the certificate and its key\n");
  CHECK(user("{token: a, username: b}").find("more than one of token, username and exec") != std::string::npos);
  CHECK(user("client-key-data: '!!'").find("client-key-data: is not base64\n") != std::string::npos);
  CHECK(user("client-key-data: c2VjcmV0").find("client-key-data: holds no PEM text\n") != std::string::npos);
  CHECK(user("token: \"a\\nb\"") == at + ".token: holds a control character\n");
  CHECK(user("token: [a]") == at + ".token: must be a string\n");
  auto const exec = [&](std::string const& text) { return user("exec: {" + text + "}"); };
  CHECK(exec("apiVersion: client.authentication.k8s.io/v1alpha1, command: x") ==
        at + ".exec.apiVersion: must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1\n");
  std::string const v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  CHECK(exec(v1 + "interactiveMode: Never") == at + ".exec.command: is missing\n");
  CHECK(exec(v1 + "command: x") == at + ".exec.interactiveMode: must be Never or IfAvailable\n");
  CHECK(exec(v1 + "command: x, interactiveMode: Always") ==
        at + ".exec.interactiveMode: there is no terminal to ask at: must be Never or IfAvailable\n");
  CHECK(exec(v1 + "command: x, interactiveMode: Never, args: [1]") == at + ".exec.args: must be a list of strings\n");
  CHECK(exec(v1 + "command: x, interactiveMode: Never, env: [{name: 'A=B'}]") ==
        at + ".exec.env[0].name: is no name of a variable\n");
  CHECK(exec(v1 + "command: x, interactiveMode: Never, args: [\"a\\0b\"]") == at + ".exec: holds a NUL character\n");
  auto const data = agones_alloc::encode_base64(pem);
  CHECK(problems_of(whole("{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority-data: " + data + "}",
                          "{}")) == "/etc/kube/config:8: clusters[0].cluster.insecure-skip-tls-verify: contradicts the "
                                    "certificate authority given\n");
  CHECK(problems_of(whole("{server: 'https://h', insecure-skip-tls-verify: maybe}", "{}"))
            .find("insecure-skip-tls-verify: must be true or false") != std::string::npos);
}

TEST_CASE("what is no kubeconfig is refused with its line") {
  CHECK(problems_of("") == "/etc/kube/config: there is no configuration\n");
  CHECK(problems_of("- a\n") == "/etc/kube/config:1: is no kubeconfig: a map is expected\n");
  CHECK(problems_of("a: 1\na: 2\n") == "/etc/kube/config:2: a: the key is given twice, first on line 1\n");
  CHECK(problems_of("current-context: x\ncontexts: {}\n") == "/etc/kube/config:2: contexts: must be a list\n");
  CHECK(problems_of("current-context: x\ncontexts:\n- 7\n").find("/etc/kube/config:3: contexts[0]: must be a map") == 0);
  CHECK_FALSE(problems_of("a: 1\n---\nb: 1\n").empty());
  CHECK_FALSE(problems_of(std::string((1U << 20U) + 1, '#')).empty());
}

TEST_CASE("KUBECONFIG lists files, and the home folder has the default") {
  CHECK(yaml::kubeconfig_paths("/a:/b::/a:c", "/h") == std::vector<fs::path>{"/a", "/b", "c"});
  CHECK(yaml::kubeconfig_paths("", "/h") == std::vector<fs::path>{"/h/.kube/config"});
  CHECK(yaml::kubeconfig_paths("::", "").empty());
}

TEST_CASE("files are read, missing ones of several left out") {
  auto pattern = (fs::temp_directory_path() / "agones_alloc_XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  fs::path const folder = pattern;
  std::ofstream{folder / "config"} << whole("server: https://h", "tokenFile: token");
  auto const got = yaml::load_kubeconfig({folder / "missing", folder / "config"});
  REQUIRE(got.ok());
  CHECK(got.target.token_file == (folder / "token").string());
  auto const missing = yaml::load_kubeconfig({folder / "missing"});
  REQUIRE(missing.errors.size() == 1);
  CHECK(missing.errors[0].message.find("No such file") != std::string::npos);
  CHECK_FALSE(yaml::load_kubeconfig({folder}).ok());
  CHECK_FALSE(yaml::load_kubeconfig({folder / "x", folder / "y"}).ok());
  CHECK_FALSE(yaml::load_kubeconfig({}).ok());
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}
