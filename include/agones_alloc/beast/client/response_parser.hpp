// Beast's parser at work for a client: the head that callers see, and the body as it comes.
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/config.hpp>

#include <boost/beast/http/basic_parser.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `Retry-After` in whole seconds, cut to a day; none for a date or anything else.
AGONES_ALLOC_DECL auto read_retry_after(std::string_view value) -> std::optional<std::chrono::seconds>;

/// Reads one answer. Body bytes are added to `body`, chunks joined; whoever takes them empties it. Trailers are
/// dropped.
class response_parser final : public boost::beast::http::basic_parser<false> {
 public:
  AGONES_ALLOC_DECL response_parser(bool head_only, std::size_t header_bytes,
                                    std::optional<std::uint64_t> body_bytes);
  /// 100 to 199: another answer follows.
  auto interim() const noexcept -> bool { return head.status >= 100 && head.status < 200; }

  response_head head;
  std::string body;

 private:
  using error = boost::system::error_code;
  using text = boost::beast::string_view;
  void on_request_impl(boost::beast::http::verb, text, text, int, error&) override {}
  AGONES_ALLOC_DECL void on_response_impl(int code, text reason, int version, error&) override;
  AGONES_ALLOC_DECL void on_field_impl(boost::beast::http::field, text name, text value, error&) override;
  AGONES_ALLOC_DECL void on_header_impl(error&) override;
  AGONES_ALLOC_DECL void on_body_init_impl(boost::optional<std::uint64_t> const& length, error&) override;
  AGONES_ALLOC_DECL auto on_body_impl(text, error&) -> std::size_t override;
  void on_chunk_header_impl(std::uint64_t, text, error&) override {}
  AGONES_ALLOC_DECL auto on_chunk_body_impl(std::uint64_t, text, error&) -> std::size_t override;
  void on_finish_impl(error&) override {}

  std::optional<std::uint64_t> most_;
  bool in_body_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/response_parser.ipp>
#endif
