#pragma once

#include <agones_alloc/beast/access_gate.hpp>
#include <agones_alloc/beast/detail/identified_request.hpp>
#include <agones_alloc/json/status.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// The token of `Bearer TOKEN`, in the letters that RFC 6750 gives it; "" for anything else.
inline auto bearer_token(std::string_view field) -> std::string_view {
  static constexpr std::string_view scheme = "bearer ";
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  auto const same = [&](char wanted, char found) { return wanted == lower(found); };
  if (field.size() <= scheme.size() || !std::equal(scheme.begin(), scheme.end(), field.begin(), same)) return {};
  field.remove_prefix(scheme.size());
  while (field.starts_with(' ')) field.remove_prefix(1);
  auto const fits = [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view{"-._~+/="}.find(c) != std::string_view::npos;
  };
  return std::all_of(field.begin(), field.end(), fits) ? field : std::string_view{};
}

inline auto gate_answer(int code, std::string message, std::chrono::seconds retry_after = {}) -> http_response {
  api_status status;
  status.code = code;
  status.message = std::move(message);
  status.retry_after = retry_after;
  auto out = json_response(code, to_json_status(status));
  if (retry_after.count() > 0) out.headers.emplace_back("Retry-After", std::to_string(retry_after.count()));
  out.route = "identity";
  return out;
}

/// What is not known lets nobody through.
inline auto unknown_answer(error_code const& ec) -> http_response {
  static constexpr std::chrono::seconds soon{1};
  if (ec == errc::too_many_requests) return gate_answer(429, "too many callers are being looked up", soon);
  if (ec == errc::refused) return gate_answer(500, "the API server does not let this server look its callers up");
  return gate_answer(503, "the API server does not answer who may allocate", soon);
}

/// As the API server says it.
inline auto forbidden_answer(caller_identity const& who, std::string_view ns, access_answer const& answer)
    -> http_response {
  auto text = "gameserverallocations.allocation.agones.dev is forbidden: User \"" + who.user +
              "\" cannot create resource \"gameserverallocations\" in API group \"allocation.agones.dev\" ";
  text += ns.empty() ? std::string{"at the cluster scope"} : "in the namespace \"" + std::string{ns} + "\"";
  if (!answer.reason.empty()) text += ": " + answer.reason;
  return gate_answer(403, std::move(text));
}

/// One request on its way through the gate. Lives in what it waits for.
class gate_passage : public std::enable_shared_from_this<gate_passage> {
 public:
  gate_passage(http_request const& request, http_handler::reply done, http_handler& behind)
      : request_{&request}, done_{std::move(done)}, behind_{&behind},
        slot_{boost::asio::get_associated_cancellation_slot(done_)} {}

  /// Who leaves meanwhile is not let through to take a server.
  void watch_client() {
    if (!slot_.is_connected()) return;
    slot_.assign([weak = weak_from_this()](boost::asio::cancellation_type) {
      if (auto const self = weak.lock()) self->gone_ = true;
    });
  }

  void authenticate(access_review& review, access_gate::namespace_finder const& namespace_of) {
    auto const field = request_->header("Authorization");
    auto const token = bearer_token(field);
    if (token.empty()) return refuse(gate_answer(401, "a bearer token or a client certificate is wanted"));
    review.authenticate(token, [self = shared_from_this(), &review, namespace_of](
                                   error_code ec, std::optional<caller_identity> who) {
      if (ec) return self->refuse(unknown_answer(ec));
      if (!who) return self->refuse(gate_answer(401, "the API server does not know the bearer token"));
      self->authorize(*std::move(who), review, namespace_of);
    });
  }

  void authorize(caller_identity who, access_review& review, access_gate::namespace_finder const& namespace_of) {
    who_ = std::move(who);
    auto const ns = namespace_of(*request_);
    if (!ns) return enter();
    review.authorize(who_, *ns, [self = shared_from_this(), ns = *ns](error_code ec, access_answer const& answer) {
      if (ec) return self->refuse(unknown_answer(ec));
      if (!answer.allowed) return self->refuse(forbidden_answer(self->who_, ns, answer));
      self->enter();
    });
  }

 private:
  void refuse(http_response answer) {
    if (slot_.is_connected()) slot_.clear();
    std::move(done_)(std::move(answer));
  }

  void enter() {
    if (gone_) return refuse(gate_answer(499, "the client has left"));
    if (slot_.is_connected()) slot_.clear();
    static auto const none_hidden = [] {
      front_proxy_rules out;  // the identity gate has hidden what is to be
      out.username_headers = out.uid_headers = out.group_headers = out.extra_header_prefixes = {};
      return std::make_shared<front_proxy_rules const>(std::move(out));
    }();
    auto const one = std::make_shared<identified_request>(*request_, none_hidden, std::move(who_));
    auto const executor = boost::asio::get_associated_executor(done_);
    auto back = [one, done = std::move(done_)](http_response response) mutable { std::move(done)(std::move(response)); };
    behind_->handle(*one, http_handler::reply{boost::asio::bind_cancellation_slot(
                              slot_, boost::asio::bind_executor(executor, std::move(back)))});
  }

  http_request const* request_;
  http_handler::reply done_;
  http_handler* behind_;
  boost::asio::cancellation_slot slot_;
  caller_identity who_;
  bool gone_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL access_gate::access_gate(http_handler& behind, access_review& review, namespace_finder namespace_of)
    : behind_{&behind}, review_{&review}, namespace_of_{std::move(namespace_of)} {}

AGONES_ALLOC_DECL void access_gate::handle(http_request const& request, reply done) {
  auto const source = request.caller == nullptr ? identity_source::anonymous : request.caller->source;
  if (source == identity_source::front_proxy) return behind_->handle(request, std::move(done));
  auto const passage = std::make_shared<detail::gate_passage>(request, std::move(done), *behind_);
  passage->watch_client();
  if (source == identity_source::certificate) return passage->authorize(*request.caller, *review_, namespace_of_);
  passage->authenticate(*review_, namespace_of_);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
