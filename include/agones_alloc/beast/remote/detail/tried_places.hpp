// What is known of endpoints that do not say what they speak.
#pragma once

#include <agones_alloc/beast/remote/detail/protocol_search.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/remote_by_trying.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

struct tried_errand;

/// One endpoint. A call holds it, so that it may be forgotten meanwhile.
struct tried_place {
  std::string name;
  client_endpoint endpoint;
  std::shared_ptr<secret_credentials> credentials;
  std::optional<remote_protocol> known;
  credentials_ptr used;  ///< what `known` was found out with
  std::shared_ptr<protocol_search> search;  ///< under way
  std::vector<std::shared_ptr<tried_errand>> waiting;  ///< for its end
};

/// Confined to the executor.
class tried_places {
 public:
  tried_places(boost::asio::any_io_executor executor, secret_source* secrets, timer& time, remote_by_trying_options const& options)
      : executor_{std::move(executor)}, secrets_{secrets}, time_{&time}, known_{options.endpoints} {
    how_.time_to_live = options.secret_time_to_live;
    how_.retry = options.secret_retry;
    how_.counts = options.counts;
    how_.log = options.log;
  }

  /// For the call: made when there is none yet; or what is wrong with its endpoint.
  auto of(remote_call const& call) -> std::variant<std::shared_ptr<tried_place>, std::string> {
    key_.clear();
    for (auto const* part : {&call.endpoint, &call.server_name, &call.credentials.namespace_, &call.credentials.secret,
                             &call.credentials.server_ca}) {
      key_.append(part->view()).append(1, '\0');
    }
    if (auto const* const known = known_.find(key_); known != nullptr && *known) return known_.use(key_);
    auto parsed = parse_endpoint(call.endpoint.view());
    if (auto* const problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
    auto made = std::make_shared<tried_place>();
    made->name = call.endpoint.str();
    made->endpoint = std::get<client_endpoint>(std::move(parsed));
    made->credentials = std::make_shared<secret_credentials>(executor_, *time_, secrets_, call.credentials, call.server_name.str(), how_);
    known_.use(key_) = made;
    return made;
  }

  auto all() const -> std::vector<std::shared_ptr<tried_place>> {
    std::vector<std::shared_ptr<tried_place>> out;
    known_.visit([&out](std::string_view, std::shared_ptr<tried_place> const& of) {
      if (of) out.push_back(of);
    });
    return out;
  }

 private:
  boost::asio::any_io_executor executor_;
  secret_source* secrets_;
  timer* time_;
  secret_credentials_options how_;
  recent_table<std::shared_ptr<tried_place>> known_;
  std::string key_;  ///< its memory is used again
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
