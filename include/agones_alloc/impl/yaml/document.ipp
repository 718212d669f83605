#pragma once

#include <agones_alloc/yaml/document.hpp>

#include <agones_alloc/impl/yaml/text_check.ipp>
// The builder uses the text checks and is completed by the file after it.
#include <agones_alloc/impl/yaml/document_builder.ipp>
#include <agones_alloc/impl/yaml/document_values.ipp>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

AGONES_ALLOC_DECL auto parse(std::string_view text, std::string_view file, limits const& bounds) -> documents {
  auto const failed = [&file](std::size_t line, std::string field, std::string message) {
    return documents{{}, {{std::string{file}, line, std::move(field), std::move(message)}}};
  };
  if (text.size() > bounds.max_bytes)
    return failed(0, {}, "larger than " + std::to_string(bounds.max_bytes) + " bytes");
  if (auto bad = detail::find_bad_byte(text)) return failed(bad->line, {}, std::move(bad->message));
  // The mark of the end makes the parser see quoted text that is never closed, which it would take as it is.
  auto closed = std::string{text};
  if (!closed.empty() && closed.back() != '\n') closed += '\n';
  auto const lines = static_cast<std::size_t>(std::count(closed.begin(), closed.end(), '\n'));
  closed += "...\n";
  try {
    detail::document_builder builder{text, bounds};
    std::istringstream in{std::move(closed)};
    YAML::Parser parser{in};
    while (parser.HandleNextDocument(builder)) {
    }
    return {builder.take(), {}};
  } catch (detail::stop_parsing& stopped) {
    return failed(stopped.what.line, std::move(stopped.what.field), std::move(stopped.what.message));
  } catch (YAML::Exception const& error) {
    auto const line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
    if (line > lines) return failed(lines, {}, "not YAML: the text ends within a quoted string, list or map");
    return failed(line, {}, "not YAML: " + error.msg);
  }
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
