// The one table of answers that differ from the reference on purpose.
#pragma once

#include "runner.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace conformance {

/// Excuses by rule, never by case: from the input and the reference's answer it works out the answer that is meant.
/// It is used only where that is exactly the answer given.
struct excuse {
  std::string_view quirk;  ///< number in the specification's list, or the section that asks for another answer
  std::string_view reason;
  std::string_view families;  ///< names, separated by blanks
  /// The intended answer, or nullopt where the rule does not apply. Rules are tried in order of the table, each
  /// on what the ones before it made of `expected`, so that several may share one case.
  std::optional<json::value> (*intended)(answer const&);
};

auto excuses() -> std::vector<excuse> const&;

}  // namespace conformance
