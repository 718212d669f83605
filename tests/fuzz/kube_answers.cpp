// What a credential plugin prints, and what an API server answers to a list.
#include "json_reading.hpp"

#include <agones_alloc/json/exec_credential.hpp>
#include <agones_alloc/json/list_page.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  for (auto const* version : {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    auto const credential = read_exec_credential(text, version);
    if (!credential) {
      json_fuzz::require(!to_string(credential.error()).empty());
      continue;
    }
    json_fuzz::require(!credential->token.empty() || !credential->certificate_pem.empty());
    json_fuzz::require(credential->certificate_pem.empty() == credential->key_pem.empty());
    json_fuzz::require(credential->token.find('\n') == std::string::npos);
  }
  auto const value = json_fuzz::input(data, size);
  if (!value) return 0;
  auto const page = read_list_page(*value);
  if (!page) {
    json_fuzz::require(!to_string(page.error()).empty());
    return 0;
  }
  json_fuzz::require(page->items != nullptr && !page->resource_version.empty());
  for (auto const& item : *page->items) (void)read_identity(item);
  return 0;
}
