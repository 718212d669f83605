#include <agones_alloc/yaml/document.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace yaml = agones_alloc::yaml;

namespace {

auto problem_of(std::string_view text, yaml::limits const& bounds = {}) -> std::string {
  auto const read = yaml::parse(text, "f.yaml", bounds);
  CHECK(read.errors.empty() == !read.values.empty());
  return read.errors.empty() ? std::string{"read"} : to_string(read.errors.front());
}

auto repeated(std::string_view text, int times) -> std::string {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("depth is bounded in every notation") {
  auto const deeper = [](std::string const& text) { return text.ends_with("nested deeper than 64 levels"); };
  CHECK(problem_of(repeated("[", 64) + repeated("]", 64)) == "read");
  CHECK(deeper(problem_of(repeated("[", 65) + repeated("]", 65))));
  CHECK(deeper(problem_of(repeated("{a: ", 65) + repeated("}", 65))));
  CHECK(deeper(problem_of(repeated("- ", 65) + "x")));
  std::string blocks;
  for (int i = 0; i < 65; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  CHECK(deeper(problem_of(blocks + std::string(65, ' ') + "x\n")));
  // Far beyond: refused, whatever the words, without using up the stack.
  CHECK(problem_of(repeated("[", 200'000)) != "read");
  CHECK(problem_of(repeated("{\"a\":", 100'000)) != "read");
  CHECK(problem_of(repeated("- ", 100'000)) != "read");
  CHECK(problem_of(repeated("? ", 100'000)) != "read");
}

TEST_CASE("an alias bomb is stopped by its full size") {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'j'; ++c) {
    std::string const from{static_cast<char>(c - 1)};
    text += std::string{c} + ": &" + std::string{c} + " [" + repeated("*" + from + ", ", 8) + "*" + from + "]\n";
  }
  CHECK(problem_of(text) == "f.yaml:6: f[5]: more than 500000 values, aliases counted at their full size");
}

TEST_CASE("an alias bomb of merge keys is stopped too") {
  std::string text = "a: &a {k: " + std::string(1000, 'x') + "}\n";
  for (char c = 'b'; c <= 'j'; ++c) {
    std::string const from{static_cast<char>(c - 1)};
    text += std::string{c} + ": &" + std::string{c} + " {<<: [" + repeated("*" + from + ", ", 8) + "*" + from + "], " +
            std::string{c} + "1: *" + from + "}\n";
  }
  CHECK(problem_of(text).find("aliases counted at their full size") != std::string::npos);
}

TEST_CASE("anchors within anchors count what their copies take") {
  yaml::limits bounds;
  bounds.max_expanded_bytes = 100'000;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "&a" + std::to_string(i) + " [";
  text += std::string(10'000, 'x') + repeated("]", 60);
  CHECK(problem_of(text, bounds).find("more than 100000 characters") != std::string::npos);
}

TEST_CASE("text, documents, values and characters are bounded") {
  yaml::limits bounds;
  bounds.max_bytes = 1000;
  CHECK(problem_of("a: " + std::string(997, 'x'), bounds) == "read");
  CHECK(problem_of("a: " + std::string(998, 'x'), bounds) == "f.yaml: larger than 1000 bytes");
  bounds = {};
  bounds.max_documents = 3;
  CHECK(problem_of("a\n---\nb\n---\nc\n", bounds) == "read");
  CHECK(problem_of("a\n---\nb\n---\nc\n---\nd\n", bounds) == "f.yaml:6: more than 3 documents");
  bounds = {};
  bounds.max_nodes = 4;
  CHECK(problem_of("[1, 2]\n", bounds) == "read");
  CHECK(problem_of("[1,\n2,\n3,\n4]\n", bounds) ==
        "f.yaml:4: [3]: more than 4 values, aliases counted at their full size");
}

TEST_CASE("a giant scalar within the bounds is read") {
  auto const read = yaml::parse("a: " + std::string(2'000'000, 'x') + "\n", "f.yaml");
  REQUIRE(read.values.size() == 1);
  CHECK(read.values[0].value.at("a").as_string().size() == 2'000'000);
}

TEST_CASE("binary is refused before it is parsed") {
  CHECK(problem_of(std::string_view{"a: 1\nb: \0", 9}) == "f.yaml:2: control character 0x00 in the text");
  CHECK(problem_of("\x7f"
                   "ELF\x02") == "f.yaml:1: control character 0x02 in the text");
  CHECK(problem_of("\xff\xfe"
                   "a") == "f.yaml:1: not UTF-8 text (byte 0xff)");
  CHECK(problem_of("a: \x1b[31m") == "f.yaml:1: control character 0x1b in the text");
  CHECK(problem_of("a\n\n: \xc0\x80") == "f.yaml:3: not UTF-8 text (byte 0xc0)");
  CHECK(problem_of("\xed\xa0\x80") == "f.yaml:1: not UTF-8 text (byte 0xed)");
  CHECK(problem_of("\xf4\x90\x80\x80") == "f.yaml:1: not UTF-8 text (byte 0xf4)");
  CHECK(problem_of("\xe2\x82") == "f.yaml:1: not UTF-8 text (byte 0xe2)");
  CHECK(problem_of("a: \xf0\x9f\x8e\xae") == "read");
}

TEST_CASE("problems quote no more than a little of hostile text") {
  auto const text = problem_of("!!int " + std::string(100'000, 'x'));
  CHECK(text.size() < 300);
  CHECK(problem_of("{" + std::string(900, 'k') + ": 1, " + std::string(900, 'k') + ": 2}").size() < 300);
}

TEST_CASE("escapes that the parser turns into no UTF-8 are refused, in values and in keys") {
  CHECK(problem_of("a:\n  b: \"x\\N\"") ==
        "f.yaml:2: a.b: an escape that does not stand for UTF-8 text; \\u followed by four digits does");
  CHECK(problem_of("\"\\_\": 1").find("does not stand for UTF-8") != std::string::npos);
  CHECK(problem_of("a: \"\\u0085\\x85\\e\\L\"") == "read");
}

TEST_CASE("text after a document is found in any of many documents, and `...` closes each") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += (i % 2 == 0 ? "---\n" : "") + std::string{"# one\n\na: 1\n...\n"};
  CHECK(problem_of(text) == "read");
  CHECK(problem_of(text + "[1]\n{b: 2}\n").starts_with("f.yaml:9002: text after the end of the document"));
}
