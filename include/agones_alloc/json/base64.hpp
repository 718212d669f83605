// Standard base64 with padding (spec 1.1).
#pragma once

#include <agones_alloc/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto encode_base64(std::string_view bytes) -> std::string;

/// The bytes; nothing for text that is not canonical: wrong alphabet, padding or length. Line ends are skipped, as Go
/// does.
AGONES_ALLOC_DECL auto decode_base64(std::string_view text) -> std::optional<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/base64.ipp>
#endif
