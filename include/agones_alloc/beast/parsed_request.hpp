// Beast's parser at work: its messages as requests, its refusals as answers.
#pragma once

#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

using request_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

class parsed_request final : public http_request {
 public:
  /// `fields` are those the header had: trailers, which the parser adds to the message's, must not change a request.
  AGONES_ALLOC_DECL parsed_request(request_parser::value_type const& message, boost::beast::http::fields const& fields);
  AGONES_ALLOC_DECL auto header(std::string_view name) const -> std::string override;
  AGONES_ALLOC_DECL void visit_headers(std::function<void(std::string_view, std::string_view)> const&) const override;

 private:
  boost::beast::http::fields const* fields_;
};

/// What to answer to input the parser refuses.
struct protocol_error {
  int status;
  std::string text;
};
AGONES_ALLOC_DECL auto to_protocol_error(boost::system::error_code, http_limits const&) -> protocol_error;
/// Problems of a complete header that the parser lets through.
AGONES_ALLOC_DECL auto check_header(request_parser::value_type const&) -> std::optional<protocol_error>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/parsed_request.ipp>
#endif
