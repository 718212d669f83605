// The end of a gRPC call to another cluster: no bytes may crash it, none may be taken for a server that has no name, and nothing but
// what says so may be taken for not executed.
#include <agones_alloc/grpc/grpc_answer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace agones_alloc;

// A byte for the code, one for what the rest is.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size < 2) return 0;
  std::string const rest{reinterpret_cast<char const*>(data) + 2, size - 2};
  grpc_answer answer;
  answer.code = static_cast<std::int8_t>(data[0]);
  answer.answered = (data[1] & 4) == 0;
  switch (data[1] & 3) {
    case 0: answer.body = rest; break;
    case 1: answer.message = rest; break;
    case 2: answer.details = rest; break;
    default: answer.retry_after = rest; break;
  }
  remote_call call;
  call.endpoint = "e:443";
  call.namespace_ = "games";
  auto const out = judge_grpc_answer(answer, call, {});
  bool const named = out.server != nullptr && !out.server->meta.name.empty();
  if ((out.result == outcome::allocated) != named) std::abort();
  if (answer.code == 0 && !answer.answered && out.result != outcome::unknown) std::abort();
  bool const silent = answer.message.empty() && answer.details.empty() && answer.retry_after.empty();
  if (answer.code == 14 && silent && out.result != outcome::unknown) std::abort();
  if (out.retry_after > std::chrono::hours{1} + std::chrono::seconds{1}) std::abort();
  return 0;
}
