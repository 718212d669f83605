#include "event_serving.hpp"

#include "nats_serving.hpp"
#include "stdout_sink.hpp"

#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/beast/remote/client_bundle.hpp>
#include <agones_alloc/beast/webhook/webhook_sink.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

/// "" and the text, or what is wrong with the file.
auto read_file(std::string const& path, std::string& out) -> std::string {
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  out.assign(std::istreambuf_iterator<char>{in}, {});
  if (!in.is_open() || in.bad()) return path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read");
  return out.empty() ? path + ": is empty" : std::string{};
}

auto read_key(std::string const& path, webhook_key& out) -> std::string {
  if (path.empty()) return {};
  std::string text;
  if (auto wrong = read_file(path, text); !wrong.empty()) return wrong;
  auto key = read_webhook_key(std::move(text));
  if (auto const* wrong = std::get_if<std::string>(&key)) return path + ": " + *wrong;
  out = std::get<webhook_key>(std::move(key));
  return {};
}

auto read_credentials(event_sink_settings const& settings, client_credentials& out) -> std::string {
  if (settings.endpoint.tls) {
    secret_data files;
    for (auto const& [path, name] : {std::pair{&settings.certificate, "tls.crt"}, std::pair{&settings.key, "tls.key"},
                                     std::pair{&settings.authorities, "ca.crt"}}) {
      std::string text;
      if (path->empty()) continue;
      if (auto wrong = read_file(*path, text); !wrong.empty()) return wrong;
      files.entries.emplace(name, std::move(text));
    }
    auto wrong = settings.certificate.empty() ? make_trust_bundle(files.entries["ca.crt"], out.tls)
                                              : make_client_bundle(files, settings.certificate, "", out.tls);
    if (!wrong.empty()) return wrong;
  }
  if (settings.token.empty()) return {};
  std::string token;
  if (auto wrong = read_file(settings.token, token); !wrong.empty()) return wrong;
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  out.authorization = "Bearer " + token;
  return {};
}

}  // namespace

struct event_serving::webhook {
  webhook(boost::asio::any_io_executor const& executor, event_sink_settings const& of, client_credentials first, webhook_options how,
          timer& time, logger& log)
      : settings{of},
        credentials{std::make_shared<static_credentials>(executor, std::move(first))},
        client{executor, of.endpoint, credentials, time, client_settings(of), &log},
        sink{std::make_shared<webhook_sink>(client, time, std::move(how))} {}

  static auto client_settings(event_sink_settings const& of) -> client_options {
    client_options out;
    out.limits.connections = of.channel.delivery.in_flight;
    out.limits.queue = of.channel.delivery.in_flight;
    out.limits.streams = 1;
    out.limits.body_bytes = 64UL * 1024;
    out.limits.request_bytes = 64UL << 20U;
    out.user_agent = "agones-alloc-server/" AGONES_ALLOC_VERSION;
    return out;
  }

  event_sink_settings const& settings;
  std::shared_ptr<static_credentials> credentials;
  pooled_http_client client;
  std::shared_ptr<webhook_sink> sink;
};

event_serving::event_serving(boost::asio::any_io_executor executor, server_options const& options, timer& time,
                             random_source& random, logger& log)
    : executor_{std::move(executor)}, options_{options}, timer_{time}, random_{random}, log_{log}, state_{options.event_state} {
  if (!options.event_sinks.empty()) publisher_ = std::make_unique<event_publisher>(executor_, time, random, &log);
}

event_serving::~event_serving() = default;

auto event_serving::make_webhook(event_sink_settings const& settings, std::string& problem) -> std::shared_ptr<event_sink> {
  client_credentials credentials;
  webhook_key key;
  problem = read_credentials(settings, credentials);
  if (problem.empty()) problem = read_key(settings.sign_key, key);
  if (!problem.empty()) return nullptr;
  webhooks_.push_back(std::make_unique<webhook>(executor_, settings, std::move(credentials),
                                                webhook_options{settings.target, options_.event_source, settings.mode}, timer_, log_));
  auto const sink = webhooks_.back()->sink;
  sink->set_key(std::move(key));
  return sink;
}

auto event_serving::make_sink(event_sink_settings const& settings, std::string& problem) -> std::shared_ptr<event_sink> {
  switch (settings.what) {
    case event_sink_settings::kind::standard_output: return std::make_shared<stdout_sink>(executor_, options_.event_source);
    case event_sink_settings::kind::webhook: return make_webhook(settings, problem);
    case event_sink_settings::kind::nats: break;
  }
  return make_nats_sink(executor_, settings, options_.event_source, timer_, problem);
}

auto event_serving::prepare() -> bool {
  bool sound = true;
  for (auto const& settings : options_.event_sinks) {
    std::string problem;
    if (auto sink = make_sink(settings, problem)) {
      publisher_->add(std::move(sink), settings.channel);
      continue;
    }
    std::cerr << "agones-alloc-server: --event-sink " << settings.channel.name << ": " << problem << '\n';
    sound = false;
  }
  return sound;
}

void event_serving::start(fleet_source fleets) {
  fleets_ = std::move(fleets);
  if (used() && state_.used()) {
    event_state::servers earlier;
    std::string problem;
    if (state_.load(earlier, problem)) publisher_->recall(earlier);
    if (!problem.empty()) {
      log_.log(severity::warning, "what events have told of is not known: all game servers are told anew", {{"reason", problem}});
    }
    keep_state();
  }
  if (used() && publisher_->wants_fleets()) look_at_fleets();
}

void event_serving::keep_state() {
  timer_.async_wait_until(timer_.now() + options_.event_state_interval, [this](error_code ec) {
    if (ec || stopped_) return;
    if (auto const problem = state_.finish(); !problem.empty()) {
      log_.log(severity::error, "--event-state cannot be written", {{"reason", problem}});
    }
    // Before the first list nothing is known, and the file still is what is to be gone on from.
    if (listed_) state_.keep(publisher_->told());
    keep_state();
  });
}

void event_serving::look_at_fleets() {
  if (stopped_) return;
  if (auto const all = fleets_()) publisher_->fleets(*all);
  timer_.async_wait_until(timer_.now() + options_.event_fleet_interval, [this](error_code ec) {
    if (!ec) look_at_fleets();
  });
}

void event_serving::look() {
  for (auto const& one : webhooks_) {
    client_credentials credentials;
    webhook_key key;
    auto problem = read_credentials(one->settings, credentials);
    if (problem.empty()) problem = read_key(one->settings.sign_key, key);
    if (!problem.empty()) {
      log_.log(severity::error, "files of an event sink cannot be used; the last good ones stay in use",
               {{"sink", one->settings.channel.name}, {"reason", problem}});
      continue;
    }
    one->credentials->replace(std::move(credentials));
    one->sink->set_key(std::move(key));
    log_.log(severity::info, "files of an event sink were read again", {{"sink", one->settings.channel.name}});
  }
}

void event_serving::heard(server_event const& event) {
  if (used()) publisher_->heard(event);
}

void event_serving::listed(std::vector<game_server_ptr> const& all) {
  if (!used()) return;
  listed_ = true;
  publisher_->replaced(all);
}

void event_serving::drain(timer::time_point deadline, std::function<void()> done) {
  if (!used()) return done();
  publisher_->async_drain(deadline, [this, done = std::move(done)](std::size_t left) {
    if (left > 0) {
      auto const count = std::to_string(left);
      log_.log(severity::warning, "events were not sent: --event-grace was not enough", {{"events", count}});
    }
    stopped_ = true;
    if (state_.used() && listed_) state_.keep(publisher_->told());
    if (auto const problem = state_.finish(); !problem.empty()) {
      log_.log(severity::error, "--event-state cannot be written", {{"reason", problem}});
    }
    done();
  });
}

void event_serving::stop() {
  stopped_ = true;
  for (auto const& one : webhooks_) one->client.close();
}

auto event_serving::counts() const -> std::vector<event_channel_counts> {
  return used() ? publisher_->counts() : std::vector<event_channel_counts>{};
}

}  // namespace agones_alloc_server
