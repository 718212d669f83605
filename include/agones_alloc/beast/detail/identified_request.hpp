// A request together with who asks.
#pragma once

#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `rules` say which fields are kept from the handler. The request it stands for must outlive it.
class identified_request final : public http_request {
 public:
  identified_request(http_request const& request, std::shared_ptr<front_proxy_rules const> rules, caller_identity who)
      : http_request{request}, request_{&request}, rules_{std::move(rules)}, who_{std::move(who)} {
    caller = &who_;
  }
  auto header(std::string_view name) const -> std::string override {
    return is_identity_header(name, *rules_) ? std::string{} : request_->header(name);
  }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    request_->visit_headers([&](std::string_view name, std::string_view value) {
      if (!is_identity_header(name, *rules_)) visit(name, value);
    });
  }

 private:
  http_request const* request_;
  std::shared_ptr<front_proxy_rules const> rules_;
  caller_identity who_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
