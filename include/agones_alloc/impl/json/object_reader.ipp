#pragma once

#include <agones_alloc/json/object_reader.hpp>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse_options.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline auto bounded_depth(std::size_t depth) noexcept -> boost::json::parse_options {
  boost::json::parse_options options;
  options.max_depth = depth;
  return options;
}

}  // namespace detail::wire

AGONES_ALLOC_DECL object_reader::object_reader(object_reader_options options)
    : options_{options}, storage_{block_.data(), block_.size()},
      parser_{detail::wire::bounded_depth(options.max_depth), static_cast<std::size_t>(options.place),
              options.keep_spec} {
  begin();
}

AGONES_ALLOC_DECL object_reader::~object_reader() = default;

AGONES_ALLOC_DECL void object_reader::begin() {
  value_.reset();
  parser_.reset();
  parser_.handler().reset({});  // lets go of what lies in the storage
  storage_.release();
  parser_.handler().reset(boost::json::storage_ptr{&storage_});
  taken_ = 0;
}

AGONES_ALLOC_DECL auto object_reader::fail(decode_fault fault, std::string message) -> decode_error {
  failed_ = decode_error{fault, {}, std::move(message), taken_, 0, 0};
  return *failed_;
}

AGONES_ALLOC_DECL auto object_reader::next(std::string_view& chunk) -> decoded<boost::json::value const*> {
  if (failed_) return *failed_;
  if (value_) begin();
  if (!pending()) chunk.remove_prefix(std::min(chunk.find_first_not_of(" \t\n\r"), chunk.size()));
  if (chunk.empty()) return nullptr;
  boost::json::error_code ec;
  auto const used = parser_.write_some(true, chunk.data(), std::min(chunk.size(), options_.max_bytes - taken_), ec);
  chunk.remove_prefix(used);
  taken_ += used;
  if (ec == boost::json::error::too_deep) {
    return fail(decode_fault::limit, "nested deeper than " + std::to_string(options_.max_depth) + " levels");
  }
  if (ec) return fail(decode_fault::syntax, "invalid JSON: " + ec.message());
  if (!parser_.done()) {
    if (taken_ < options_.max_bytes) return nullptr;
    return fail(decode_fault::limit,
                "a document of more than " + std::to_string(options_.max_bytes) + " bytes, the most that is accepted");
  }
  value_.emplace(parser_.handler().stack.release());
  taken_ = 0;
  return &*value_;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
