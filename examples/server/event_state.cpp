#include "event_state.hpp"

#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/write.hpp>

#include <boost/json/parse.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

constexpr std::string_view heading = R"({"kind":"agones-alloc-server events","version":1})";

/// The part of a server by which its next event is told.
auto part_of(game_server const& whole) -> game_server {
  game_server out;
  out.meta.name = whole.meta.name;
  out.meta.namespace_ = whole.meta.namespace_;
  out.meta.uid = whole.meta.uid;
  out.meta.resource_version = whole.meta.resource_version;
  out.meta.labels = whole.meta.labels;
  if (auto const last = whole.meta.annotations.find(keys::last_allocated_annotation)) {
    out.meta.annotations.set(keys::last_allocated_annotation, *last);
  }
  out.status.state = whole.status.state;
  return out;
}

auto write_all(int file, std::string_view text) -> bool {
  while (!text.empty()) {
    auto const size = ::write(file, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

/// "" or what is wrong.
auto write_file(std::string const& path, event_state::servers const& all) -> std::string {
  auto const fresh = path + ".new";
  auto const wrong = [&fresh] { return fresh + ": " + std::strerror(errno); };
  int const file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return wrong();
  std::string text{heading};
  text += '\n';
  bool sound = true;
  for (auto const& server : all) {
    append_json(text, part_of(*server));
    text += '\n';
    if (text.size() < 1U << 20U) continue;
    sound = sound && write_all(file, text);
    text.clear();
  }
  sound = sound && write_all(file, text) && ::fsync(file) == 0;
  auto const problem = sound ? std::string{} : wrong();
  ::close(file);
  if (!sound) return problem;
  return std::rename(fresh.c_str(), path.c_str()) == 0 ? std::string{} : wrong();
}

}  // namespace

event_state::~event_state() { finish(); }

auto event_state::load(servers& out, std::string& problem) const -> bool {
  out.clear();
  problem.clear();
  errno = 0;
  std::ifstream in{path_, std::ios::binary};
  if (!in.is_open()) {
    if (errno != ENOENT) problem = path_ + ": " + std::strerror(errno);
    return false;
  }
  std::string line;
  std::size_t number = 1;
  if (!std::getline(in, line) || line != heading) {
    problem = path_ + ": is no file of --event-state";
    return false;
  }
  while (std::getline(in, line)) {
    ++number;
    boost::system::error_code ec;
    auto const document = boost::json::parse(line, ec);
    auto read = ec ? decoded<game_server>{decode_error{}} : read_game_server(document);
    if (ec || !read) {
      problem = path_ + ":" + std::to_string(number) + ": is no game server";
      out.clear();
      return false;
    }
    out.push_back(std::make_shared<game_server const>(std::move(read).value()));
  }
  return true;
}

void event_state::keep(servers all) {
  if (writer_.joinable()) writer_.join();
  writer_ = std::thread{[this, kept = std::move(all)] { problem_ = write_file(path_, kept); }};
}

auto event_state::finish() -> std::string {
  if (writer_.joinable()) writer_.join();
  return std::exchange(problem_, {});
}

}  // namespace agones_alloc_server
