// Whether the connection that an answer of HTTP/1.1 came on may carry another request. No I/O.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class answer_rest : std::uint8_t {
  more,   ///< there must be more of it
  whole,  ///< it is over, and nothing came behind it: the connection may be kept
  open,   ///< where it ends cannot be known, or the other side wants to close, or lies: close it
};

/// Of an answer to a GET whose first bytes are `text`. Strict where leniency could mistake what follows for another answer: HTTP/1.1
/// with one Content-Length (none is needed for 204 and 304), no transfer coding, no folded or odd field, no more bytes than it says, and
/// at most `most` of them in all; when there are so many it is never `more`. Any thread.
AGONES_ALLOC_DECL auto rest_of_answer(std::string_view text, std::size_t most) noexcept -> answer_rest;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/answer_rest.ipp>
#endif
