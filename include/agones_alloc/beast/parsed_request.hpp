// Beast's parser at work: its messages as requests, its refusals as answers.
#pragma once

#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/field.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// What the parser has read of a request, in two blocks that a connection uses again for the next: Beast's own container takes one
/// for each field. Bounded by the parser's limits.
class request_text {
 public:
  struct field {
    boost::beast::http::field id;
    std::string_view name;
    std::string_view value;
  };

  std::string body;  ///< chunks joined
  int version{0};    ///< 11 for HTTP/1.1

  auto method() const noexcept -> std::string_view { return at(method_); }
  auto target() const noexcept -> std::string_view { return at(target_); }
  auto size() const noexcept -> std::size_t { return fields_.size(); }
  /// In the order in which they came. Valid until the next change.
  auto operator[](std::size_t i) const noexcept -> field {
    return {fields_[i].id, at(fields_[i].name), at(fields_[i].value)};
  }
  AGONES_ALLOC_DECL auto count(boost::beast::http::field) const noexcept -> std::size_t;
  /// Of all fields of that name, joined with ", ". Names ignore case.
  AGONES_ALLOC_DECL auto value_of(std::string_view name) const -> std::string;

  /// Anew, with the memory that it has, unless that is a lot.
  AGONES_ALLOC_DECL void clear();
  AGONES_ALLOC_DECL void set_line(std::string_view method, std::string_view target, int http_version);
  AGONES_ALLOC_DECL void add_field(boost::beast::http::field, std::string_view name, std::string_view value);

 private:
  struct part {
    std::size_t begin{0};
    std::size_t size{0};
  };
  struct entry {
    boost::beast::http::field id;
    part name;
    part value;
  };
  auto at(part const& of) const noexcept -> std::string_view { return {text_.data() + of.begin, of.size}; }
  auto add(std::string_view) -> part;

  std::string text_;
  std::vector<entry> fields_;
  part method_;
  part target_;
};

/// Reads one request into `to`, which must outlive it. Trailers are dropped: they must not change a request.
class request_parser final : public boost::beast::http::basic_parser<true> {
 public:
  AGONES_ALLOC_DECL request_parser(request_text& to, http_limits const&);

 private:
  using error = boost::system::error_code;
  using text = boost::beast::string_view;
  AGONES_ALLOC_DECL void on_request_impl(boost::beast::http::verb, text method, text target, int version, error&) override;
  void on_response_impl(int, text, int, error&) override {}
  AGONES_ALLOC_DECL void on_field_impl(boost::beast::http::field, text name, text value, error&) override;
  void on_header_impl(error&) override { in_body_ = true; }
  AGONES_ALLOC_DECL void on_body_init_impl(boost::optional<std::uint64_t> const& length, error&) override;
  AGONES_ALLOC_DECL auto on_body_impl(text, error&) -> std::size_t override;
  void on_chunk_header_impl(std::uint64_t, text, error&) override {}
  AGONES_ALLOC_DECL auto on_chunk_body_impl(std::uint64_t, text, error&) -> std::size_t override;
  void on_finish_impl(error&) override {}

  request_text* to_;
  bool in_body_{false};
};

class parsed_request final : public http_request {
 public:
  /// `text`, which is whole, must outlive it.
  AGONES_ALLOC_DECL explicit parsed_request(request_text const& text);
  AGONES_ALLOC_DECL auto header(std::string_view name) const -> std::string override;
  AGONES_ALLOC_DECL void visit_headers(std::function<void(std::string_view, std::string_view)> const&) const override;

 private:
  request_text const* text_;
};

/// What to answer to input the parser refuses.
struct protocol_error {
  int status;
  std::string text;
};
AGONES_ALLOC_DECL auto to_protocol_error(boost::system::error_code, http_limits const&) -> protocol_error;
/// Problems of a complete header that the parser lets through.
AGONES_ALLOC_DECL auto check_header(request_text const&) -> std::optional<protocol_error>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/parsed_request.ipp>
#endif
