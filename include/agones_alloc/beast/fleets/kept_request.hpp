// A request's head that outlives its request.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Who asked, and with which fields; without the body. Views point into itself, so it is not copied.
class kept_request final : public http_request {
 public:
  explicit kept_request(http_request const& from)
      : method_{from.method}, path_{from.path}, query_{from.query} {
    method = method_;
    path = path_;
    query = query_;
    if (from.client != nullptr) client = &certificate_.emplace(*from.client);
    if (from.caller != nullptr) caller = &identity_.emplace(*from.caller);
    from.visit_headers([this](std::string_view name, std::string_view value) {
      fields_.emplace_back(std::string{name}, std::string{value});
    });
  }
  kept_request(kept_request const&) = delete;
  auto operator=(kept_request const&) -> kept_request& = delete;

  auto header(std::string_view name) const -> std::string override {
    auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::string out;
    for (auto const& [key, value] : fields_) {
      if (!std::equal(key.begin(), key.end(), name.begin(), name.end(), [&](char a, char b) { return lower(a) == lower(b); })) {
        continue;
      }
      out += (out.empty() ? "" : ", ") + value;
    }
    return out;
  }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    for (auto const& [name, value] : fields_) visit(name, value);
  }

 private:
  std::string method_;
  std::string path_;
  std::string query_;
  std::optional<client_certificate> certificate_;
  std::optional<caller_identity> identity_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
