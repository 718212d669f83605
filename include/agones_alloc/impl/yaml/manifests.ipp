#pragma once

#include <agones_alloc/yaml/manifests.hpp>

#include <agones_alloc/impl/yaml/manifest_reader.ipp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

AGONES_ALLOC_DECL auto manifest_place::problem_at(std::string_view field, std::string message) const -> problem {
  auto const at = field == "metadata.name" ? name_line : field == "spec.replicas" ? replicas_line : line;
  auto path = prefix;
  if (!path.empty() && !field.empty()) path += '.';
  return {file, at, path.append(field), std::move(message)};
}

AGONES_ALLOC_DECL auto load(std::vector<manifest_text> const& texts, manifest_options const& options) -> manifests {
  detail::manifest_reader reader{options};
  for (auto const& text : texts) {
    auto const parsed = parse(text.text, text.file, options.text);
    reader.fail(parsed.errors);
    for (auto const& doc : parsed.values) reader.read(doc, text.file);
    if (reader.full()) break;
  }
  return reader.take();
}

AGONES_ALLOC_DECL auto load(std::string_view text, std::string_view file, manifest_options const& options)
    -> manifests {
  return load(std::vector<manifest_text>{{std::string{file}, std::string{text}}}, options);
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
