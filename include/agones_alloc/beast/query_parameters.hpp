// The parameters of a request's query, each taken once, none left over.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Takes them by name; the first thing that is wrong is kept as a sentence that begins with the parameter's name. What is taken is
/// UTF-8; that name may be anything.
class query_parameters {
 public:
  AGONES_ALLOC_DECL explicit query_parameters(std::string_view query);

  /// Its value, decoded; nullopt when it is not there.
  AGONES_ALLOC_DECL auto text(std::string_view name) -> std::optional<std::string>;
  AGONES_ALLOC_DECL auto number(std::string_view name, std::uint64_t least, std::uint64_t most) -> std::optional<std::uint64_t>;
  /// `namespace`: "" or the name of one.
  AGONES_ALLOC_DECL auto space() -> std::optional<std::string>;
  /// `true` or `false`.
  AGONES_ALLOC_DECL auto flag(std::string_view name) -> std::optional<bool>;
  /// A parameter that nobody asked for is wrong: it is most likely misspelt.
  AGONES_ALLOC_DECL void finish();

  AGONES_ALLOC_DECL void fail(std::string_view name, std::string_view what);
  auto ok() const noexcept -> bool { return problem_.empty(); }
  auto problem() const noexcept -> std::string const& { return problem_; }

 private:
  std::vector<std::pair<std::string, std::string>> left_;
  std::string problem_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/query_parameters.ipp>
#endif
