// A list as an answer: objects or a Table, whole or a page, of any length.
#pragma once

#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/beast/cluster_api/api_object.hpp>
#include <agones_alloc/beast/cluster_api/list_pages.hpp>
#include <agones_alloc/beast/cluster_api/list_query.hpp>
#include <agones_alloc/beast/cluster_api/object_feed.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What of a list is shown.
struct feed_page {
  std::vector<api_object> objects;
  std::string resource_version;
  std::string continue_token;  ///< "": there is nothing more
  std::size_t remaining{0};    ///< objects after this page; counted only where nothing is selected
};

/// How objects are written.
struct object_form {
  api_kind const* kind{nullptr};
  api_form form{api_form::objects};
  row_object rows{row_object::metadata};
  timestamp now{};
};

/// Selects from the feed's objects of a namespace ("": all), or goes on where the query's token says. Refused: 400 for
/// what is no token, 410 for a token or an exact version that is no longer known, 504 for a version that is yet to come.
AGONES_ALLOC_DECL auto take_page(object_feed&, list_pages&, list_query const&, std::string_view space)
    -> std::variant<feed_page, api_refusal>;

/// Appends the object as JSON, or as a row.
AGONES_ALLOC_DECL void append_object(std::string& out, api_object const&, object_form const&);

/// 200 with the page. What is longer than a piece is made while it is sent.
AGONES_ALLOC_DECL auto list_response(feed_page, object_form const&, std::size_t piece_bytes) -> http_response;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/list_answer.ipp>
#endif
