#pragma once

#include <agones_alloc/beast/kubernetes/access_reviewer.hpp>
#include <agones_alloc/beast/kubernetes/detail/review_documents.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>
#include <agones_alloc/json/api_failure.hpp>

#include <boost/asio/bind_executor.hpp>

#include <openssl/sha.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Questions of one kind: their answers for a while, and who waits for which.
template <class Answer>
struct reviews {
  using handler = boost::asio::any_completion_handler<void(error_code, Answer)>;
  struct known {
    Answer answer{};
    timer::time_point until{timer::time_point::min()};
  };
  explicit reviews(std::size_t most) : settled{most} {}
  recent_table<known> settled;
  std::unordered_map<std::string, std::vector<handler>> asked;
};

class access_reviewer_state final : public std::enable_shared_from_this<access_reviewer_state> {
 public:
  access_reviewer_state(boost::asio::any_io_executor executor, http_client& client, timer& time,
                        access_reviewer_options options)
      : tokens{options.remembered}, accesses{options.remembered}, executor_{std::move(executor)}, client_{&client},
        time_{&time}, options_{options} {
    if (options_.remembered == 0) throw std::invalid_argument{"access_reviewer_options.remembered: at least 1"};
    if (options_.at_once == 0) throw std::invalid_argument{"access_reviewer_options.at_once: at least 1"};
    if (std::min(options_.time, options_.remember) <= std::chrono::nanoseconds{0}) {
      throw std::invalid_argument{"access_reviewer_options: each time must be positive"};
    }
  }

  /// `body` makes the document, `read` takes the answer's; nullopt when it is none.
  template <class Answer, class Body, class Read>
  void review(reviews<Answer>& in, std::string key, char const* path, Body body, Read read,
              typename reviews<Answer>::handler done) {
    if (auto const& known = in.settled.use(key); time_->now() < known.until) {
      return std::move(done)(error_code{}, Answer{known.answer});
    }
    if (auto const same = in.asked.find(key); same != in.asked.end()) return same->second.push_back(std::move(done));
    if (under_way_ >= options_.at_once) return std::move(done)(error_code{errc::too_many_requests}, Answer{});
    client_request request;
    request.method = "POST";
    request.target = path;
    request.content_type = "application/json";
    request.headers.emplace_back("Accept", "application/json");
    request.body = body();
    request.deadline = time_->now() + options_.time;
    request.body_limit = std::size_t{1} << 20U;
    in.asked[key].push_back(std::move(done));
    ++under_way_;
    auto back = [self = shared_from_this(), &in, key = std::move(key), path, read](error_code ec,
                                                                                   client_response const& answer) {
      --self->under_way_;
      auto const waiting = in.asked.extract(key);
      std::optional<Answer> found;
      if (!ec && answer.status / 100 == 2) found = read(answer.body);
      if (found) {
        in.settled.use(key) = {*found, self->time_->now() + self->options_.remember};
        self->failing_ = false;
      } else {
        ec = self->meaning_of(path, ec, answer);
      }
      if (found) ec.clear();
      for (auto& one : waiting.mapped()) std::move(one)(ec, found.value_or(Answer{}));
    };
    client_->async_request(std::move(request), boost::asio::bind_executor(executor_, std::move(back)));
  }

  reviews<std::optional<caller_identity>> tokens;
  reviews<access_answer> accesses;

 private:
  auto meaning_of(char const* path, error_code ec, client_response const& answer) -> error_code {
    auto out = error_code{errc::unavailable};
    auto reason = ec.message();
    if (!ec && answer.status / 100 == 2) {
      out = errc::malformed;
      reason = "the answer is no review";
    } else if (!ec) {
      reason = "HTTP status " + std::to_string(answer.status) + ": " + api_failure_of(answer.status, answer.body).message;
      if (answer.status == 429) out = errc::too_many_requests;
      if (answer.status == 400 || answer.status == 403 || answer.status == 404 || answer.status == 422) out = errc::refused;
    } else if (ec == errc::too_many_requests) {
      out = ec;
    }
    if (!std::exchange(failing_, true) && options_.log != nullptr) {
      options_.log->log(severity::warning, "cannot ask who may allocate", {{"path", path}, {"reason", reason}});
    }
    return out;
  }

  boost::asio::any_io_executor executor_;
  http_client* client_;
  timer* time_;
  access_reviewer_options options_;
  std::size_t under_way_{0};
  bool failing_{false};
};

/// Each part with its length, so that no two lists of parts look alike.
inline void add_key_part(std::string& key, std::string_view part) {
  key.append(std::to_string(part.size())).append(":").append(part);
}

}  // namespace detail

AGONES_ALLOC_DECL access_reviewer::access_reviewer(boost::asio::any_io_executor executor, http_client& client,
                                                   timer& time, access_reviewer_options options)
    : state_{std::make_shared<detail::access_reviewer_state>(std::move(executor), client, time, options)} {}
AGONES_ALLOC_DECL access_reviewer::~access_reviewer() = default;

AGONES_ALLOC_DECL void access_reviewer::authenticate(std::string_view token, identity_handler done) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<unsigned char const*>(token.data()), token.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  state_->review(
      state_->tokens, std::move(digest), "/apis/authentication.k8s.io/v1/tokenreviews",
      [&] { return detail::token_review(token); }, [](std::string_view body) { return detail::read_token_review(body); },
      std::move(done));
}

AGONES_ALLOC_DECL void access_reviewer::authorize(caller_identity const& who, std::string_view ns, access_handler done) {
  std::string key;
  for (std::string_view const part : {ns, std::string_view{who.user}, std::string_view{who.uid}}) {
    detail::add_key_part(key, part);
  }
  detail::add_key_part(key, std::to_string(who.groups.size()));
  for (auto const& group : who.groups) detail::add_key_part(key, group);
  for (auto const& [name, value] : who.extra) {
    detail::add_key_part(key, name);
    detail::add_key_part(key, value);
  }
  state_->review(
      state_->accesses, std::move(key), "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      [&] { return detail::subject_access_review(who, ns); },
      [](std::string_view body) { return detail::read_subject_access_review(body); }, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
