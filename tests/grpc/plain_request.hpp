// A call as a front end sees it, without gRPC.
#pragma once

#include <agones_alloc/beast/http_message.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grpc_test {

class plain_request final : public agones_alloc::http_request {
 public:
  using fields = std::vector<std::pair<std::string, std::string>>;
  plain_request(std::string_view to, std::string message, fields with = {}) : message_{std::move(message)}, fields_{std::move(with)} {
    method = "POST";
    path = to;
    body = message_;
  }
  auto header(std::string_view name) const -> std::string override {
    auto const same = [](std::string_view a, std::string_view b) {
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
      }
      return true;
    };
    for (auto const& [key, value] : fields_) {
      if (same(key, name)) return value;
    }
    return {};
  }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    for (auto const& [key, value] : fields_) visit(key, value);
  }

 private:
  std::string message_;
  fields fields_;
};

inline auto field_of(agones_alloc::http_response const& answer, std::string_view name) -> std::string {
  for (auto const& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace grpc_test
