#pragma once

#include <agones_alloc/beast/detail/identified_request.hpp>
#include <agones_alloc/beast/identity_gate.hpp>
#include <agones_alloc/json/status.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

struct gate_refusal {
  int status;
  char const* message;
};

inline auto identify(http_request const& request, identity_gate_options const& options)
    -> std::variant<caller_identity, gate_refusal> {
  auto const* const shown = request.client;
  if (options.front_proxy && is_front_proxy(shown, *options.front_proxy)) {
    if (auto who = read_identity_headers(request, *options.front_proxy)) return *std::move(who);
    return gate_refusal{401, "the front proxy has not said who asks"};
  }
  if (options.certificates && shown != nullptr && shown->by_client_authority) {
    caller_identity who;
    who.source = identity_source::certificate;
    who.user = shown->common_name;
    who.groups = shown->organizations;
    return who;
  }
  if (options.anybody) return caller_identity{};
  if (shown != nullptr) return gate_refusal{403, "the client's certificate is not one that may allocate here"};
  if (options.front_proxy && !options.certificates) {
    return gate_refusal{401, "only the API server's front proxy may ask here: go through the Kubernetes API"};
  }
  return gate_refusal{401, "a client certificate is wanted"};
}

}  // namespace detail

AGONES_ALLOC_DECL identity_gate::identity_gate(http_handler& behind, identity_gate_options options)
    : behind_{&behind},
      options_{std::move(options)},
      hidden_{std::make_shared<front_proxy_rules const>(options_.front_proxy.value_or(front_proxy_rules{}))} {}

AGONES_ALLOC_DECL void identity_gate::use(front_proxy_rules rules) {
  hidden_ = std::make_shared<front_proxy_rules const>(rules);
  options_.front_proxy = std::move(rules);
}

AGONES_ALLOC_DECL void identity_gate::handle(http_request const& request, reply done) {
  auto found = detail::identify(request, options_);
  if (auto const* const refusal = std::get_if<detail::gate_refusal>(&found)) {
    api_status status;
    status.code = refusal->status;
    status.message = refusal->message;
    auto out = json_response(refusal->status, to_json_status(status));
    out.route = "identity";
    return std::move(done)(std::move(out));
  }
  // It keeps the rules of now, though others may be in use by the time of the answer.
  auto const one = std::make_shared<detail::identified_request>(request, hidden_,
                                                                std::get<caller_identity>(std::move(found)));
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  behind_->handle(*one, reply{boost::asio::bind_cancellation_slot(
                                     slot, boost::asio::bind_executor(executor, [one, done = std::move(done)](
                                                                                    http_response response) mutable {
                                       std::move(done)(std::move(response));
                                     }))});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
