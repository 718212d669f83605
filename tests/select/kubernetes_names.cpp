#include <agones_alloc/select/kubernetes_names.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {

using texts = std::vector<std::string>;

std::string const word_text =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
std::string const value_text =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end "
    "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
std::string const subdomain_text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end "
    "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

}  // namespace

TEST_CASE("keys with and without a prefix are qualified names") {
  for (auto const* key : {"a", "A", "9", "a-b_c.D", "agones.dev/fleet", "x/y", "a.b-c.d/1"}) {
    CAPTURE(key);
    CHECK(qualified_name_problems(key).empty());
  }
  CHECK(qualified_name_problems(std::string(63, 'x')).empty());
  CHECK(qualified_name_problems(std::string(253, 'p').append("/n")).empty());
}

TEST_CASE("an empty key has no name, in two texts") {
  CHECK(qualified_name_problems("") == texts{"name part must be non-empty", "name part " + word_text});
  CHECK(qualified_name_problems("a/") == texts{"name part must be non-empty", "name part " + word_text});
}

TEST_CASE("a key must start and end with a letter or digit and hold no other characters") {
  for (auto const* key : {"-a", "a-", ".a", "a_", "a b", "a:b", "\xc3\xbc"}) {
    CAPTURE(key);
    CHECK(qualified_name_problems(key) == texts{"name part " + word_text});
  }
}

TEST_CASE("a key's name has at most 63 characters") {
  CHECK(qualified_name_problems(std::string(64, 'x')) == texts{"name part must be no more than 63 characters"});
}

TEST_CASE("a key has at most one slash") {
  CHECK(qualified_name_problems("a/b/c") ==
        texts{"a qualified name " + word_text +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"});
}

TEST_CASE("a key's prefix is a lowercase DNS subdomain of at most 253 characters") {
  CHECK(qualified_name_problems("/a") == texts{"prefix part must be non-empty"});
  CHECK(qualified_name_problems("A/b") == texts{"prefix part " + subdomain_text});
  CHECK(qualified_name_problems("a..b/c") == texts{"prefix part " + subdomain_text});
  CHECK(qualified_name_problems("a-.b/c") == texts{"prefix part " + subdomain_text});
  CHECK(qualified_name_problems(std::string(254, 'p').append("/n")) ==
        texts{"prefix part must be no more than 253 characters"});
}

TEST_CASE("a label value may be empty, but not long or odd") {
  CHECK(label_value_problems("").empty());
  CHECK(label_value_problems("1.0-rc_1").empty());
  CHECK(label_value_problems(std::string(63, 'x')).empty());
  CHECK(label_value_problems(std::string(64, 'x')) == texts{"must be no more than 63 characters"});
  CHECK(label_value_problems("a b") == texts{value_text});
  CHECK(label_value_problems("-" + std::string(63, 'x')) == texts{"must be no more than 63 characters", value_text});
}
