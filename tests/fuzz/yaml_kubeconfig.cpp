// Any bytes: a kubeconfig that names a server, or problems that say where; never both, and never a credential quoted.
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace yaml = agones_alloc::yaml;

namespace {

void check(yaml::kubeconfig const& got) {
  auto const& t = got.target;
  for (auto const& error : got.errors) {
    if (error.message.empty() || error.file.empty()) std::abort();
  }
  if (!got.ok()) {
    if (!t.host.empty() || !t.token.empty() || t.exec || t.key.given()) std::abort();
    return;
  }
  if (t.host.empty() || t.port == 0 || t.context.empty()) std::abort();
  if (!t.base_path.empty() && (t.base_path.front() != '/' || t.base_path.back() == '/')) std::abort();
  if (t.host.find_first_of("/ \r\n@") != std::string::npos) std::abort();
  if (t.certificate.given() != t.key.given()) std::abort();
  if (t.exec && t.exec->command.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text{reinterpret_cast<char const*>(data), size};
  check(yaml::read_kubeconfig({{"a/config", text}}));
  check(yaml::read_kubeconfig({{"a/config", text}}, "b"));
  auto const half = size / 2;
  check(yaml::read_kubeconfig({{"a/config", text.substr(0, half)}, {"b/config", text.substr(half)}}));
  return 0;
}
