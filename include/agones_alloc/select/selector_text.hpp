// Label selectors as Kubernetes writes them in one line.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/selector.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `a=b,c!=d,e in (x,y),f notin (z),g,!h`; `==` is `=`, white space does not count, "" selects everything; `<` and `>` are not
/// supported. Or what is wrong with it and where. Keys and values are not checked: `compile_labels` does that.
AGONES_ALLOC_DECL auto parse_label_selector(std::string_view text) -> std::variant<label_selector, std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/selector_text.ipp>
#endif
