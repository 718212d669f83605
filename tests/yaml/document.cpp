#include <agones_alloc/yaml/document.hpp>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include <string>
#include <string_view>

namespace yaml = agones_alloc::yaml;

namespace {

auto json_of(std::string_view text) -> std::string {
  auto const read = yaml::parse(text, "f.yaml");
  std::string out;
  for (auto const& error : read.errors) out += "! " + to_string(error) + "\n";
  for (auto const& doc : read.values) out += boost::json::serialize(doc.value) + "\n";
  return out;
}

}  // namespace

TEST_CASE("documents are read in order and empty ones are left out") {
  CHECK(json_of("") == "");
  CHECK(json_of("# nothing\n\n") == "");
  CHECK(json_of("---\n---\n# x\n---\n") == "");
  CHECK(json_of("a: 1\n---\nb: [1, {c: d}]\n---\n---\n- x\n") == "{\"a\":1}\n{\"b\":[1,{\"c\":\"d\"}]}\n[\"x\"]\n");
  CHECK(json_of("%YAML 1.1\n---\na: 1\n...\n# then\nb: 2\n") == "{\"a\":1}\n{\"b\":2}\n");
  CHECK(json_of("\xef\xbb\xbf"
                "a: 1") == "{\"a\":1}\n");
  CHECK(json_of("a: 1\r\nb: 2\r\n") == "{\"a\":1,\"b\":2}\n");
}

TEST_CASE("JSON is read too") {
  CHECK(json_of(R"({"a":"\/x\u00e9\n","b":[1,-2.5,true,null,{"c":{}}],"d":[]})") ==
        "{\"a\":\"/x\xc3\xa9\\n\",\"b\":[1,-2.5E0,true,null,{\"c\":{}}],\"d\":[]}\n");
}

TEST_CASE("anchors, aliases and merge keys are expanded") {
  CHECK(json_of("a: &x {k: 1, z: 2}\nb: *x\nc: &y v\nd: *y\n") ==
        "{\"a\":{\"k\":1,\"z\":2},\"b\":{\"k\":1,\"z\":2},\"c\":\"v\",\"d\":\"v\"}\n");
  CHECK(json_of("a: &x {k: 1, z: 2}\nb: {<<: *x, k: 5}\n") == "{\"a\":{\"k\":1,\"z\":2},\"b\":{\"k\":5,\"z\":2}}\n");
  CHECK(json_of("a: &x {k: 1}\nb: &y {k: 2, l: 3}\nc: {m: 0, <<: [*x, *y]}\n") ==
        "{\"a\":{\"k\":1},\"b\":{\"k\":2,\"l\":3},\"c\":{\"m\":0,\"k\":1,\"l\":3}}\n");
  CHECK(json_of("a: &x 1\n*x : b\n") == "{\"a\":1,\"1\":\"b\"}\n");
  CHECK(json_of("'<<': 1\n") == "{\"<<\":1}\n");
  CHECK(json_of("a: &x 1\nb: &x 2\nc: *x\n") == "{\"a\":1,\"b\":2,\"c\":2}\n");
}

TEST_CASE("keys that are no text become the text they have in JSON") {
  CHECK(json_of("1: a\ntrue: b\n0x10: c\n") == "{\"1\":\"a\",\"true\":\"b\",\"16\":\"c\"}\n");
}

TEST_CASE("what is no proper YAML is refused with its line and reason") {
  CHECK(json_of("a: 1\nb: 2\na: 3\n") == "! f.yaml:3: a: the key is given twice, first on line 1\n");
  CHECK(json_of("x:\n  - z:\n      d: 1\n      d: 2\n") ==
        "! f.yaml:4: x[0].z.d: the key is given twice, first on line 3\n");
  CHECK(json_of("on: 1\ntrue: 2\n") == "! f.yaml:2: true: the key is given twice, first on line 1\n");
  CHECK(json_of("~: a\n") == "! f.yaml:1: null as a key\n");
  CHECK(json_of("x:\n  [a]: b\n") == "! f.yaml:2: x: a list or map as a key\n");
  CHECK(json_of("a: &x [1, *x]\n") == "! f.yaml:1: a[1]: an alias within its own anchor\n");
  CHECK(json_of("a: *nope\n") == "! f.yaml:1: not YAML: the referenced anchor is not defined\n");
  CHECK(json_of("a: {<<: 1}\n") == "! f.yaml:1: a.<<: the merge key << takes maps only\n");
  CHECK(json_of("a: {<<: [{b: 1}, 2]}\n") == "! f.yaml:1: a.<<: the merge key << takes maps only\n");
  CHECK(json_of("a: b: c\n") == "! f.yaml:1: not YAML: illegal map value\n");
  CHECK(json_of("a: [1, 2\n") == "! f.yaml:1: not YAML: the text ends within a quoted string, list or map\n");
  CHECK(json_of("b: 1\na: \"open\n") == "! f.yaml:2: not YAML: the text ends within a quoted string, list or map\n");
  CHECK(json_of("{a: 1} {b: 2}\n") ==
        "! f.yaml:1: text after the end of the document: `---` is missing, or a bracket or the indentation is wrong\n");
  CHECK(json_of("{a: 1}\n\n{b: 2}\n") ==
        "! f.yaml:3: text after the end of the document: `---` is missing, or a bracket or the indentation is wrong\n");
}

TEST_CASE("a problem of a later document takes the earlier ones with it") {
  auto const read = yaml::parse("a: 1\n---\nb: {\n", "f.yaml");
  CHECK(read.values.empty());
  REQUIRE(read.errors.size() == 1);
}

TEST_CASE("every value knows its line") {
  auto const read = yaml::parse(
      "# comment\n"
      "apiVersion: v1\n"
      "metadata:\n"
      "  annotations:\n"
      "    agones-alloc.dev/start-up: 1s\n"
      "    agones-alloc.dev: x\n"
      "items:\n"
      "- name: a\n"
      "  image: b\n"
      "-\n"
      "  name: c\n"
      "text: |\n"
      "  many\n"
      "  lines\n"
      "after: 1\n"
      "---\n"
      "second: 1\n",
      "f.yaml");
  REQUIRE(read.errors.empty());
  REQUIRE(read.values.size() == 2);
  auto const& doc = read.values[0];
  CHECK(doc.line_of("") == 2);
  CHECK(doc.line_of("apiVersion") == 2);
  CHECK(doc.line_of("metadata") == 3);
  CHECK(doc.line_of("metadata.annotations[agones-alloc.dev/start-up]") == 5);
  CHECK(doc.line_of("metadata.annotations.agones-alloc.dev/start-up") == 5);
  CHECK(doc.line_of("metadata.annotations[agones-alloc.dev]") == 6);
  CHECK(doc.line_of("metadata.annotations.agones-alloc.dev") == 6);
  CHECK(doc.line_of("items[0].name") == 8);
  CHECK(doc.line_of("items[0].image") == 9);
  CHECK(doc.line_of("items[1].name") == 11);
  CHECK(doc.line_of("text") == 12);
  CHECK(doc.line_of("after") == 15);
  CHECK(read.values[1].line_of("second") == 17);
  // What does not exist has the line of what would hold it.
  CHECK(doc.line_of("metadata.labels[x]") == 3);
  CHECK(doc.line_of("items[7].name") == 7);
  CHECK(doc.line_of("items[x]") == 7);
  CHECK(doc.line_of("items[1].ports[0]") == 11);
  CHECK(doc.line_of("nothing.at.all") == 2);
}

TEST_CASE("values that came through an alias keep the lines of their anchor") {
  auto const read = yaml::parse("a: &x\n  k: 1\nb: *x\nc:\n  <<: *x\n  l: 2\n", "f.yaml");
  REQUIRE(read.values.size() == 1);
  CHECK(read.values[0].line_of("b") == 3);
  CHECK(read.values[0].line_of("b.k") == 2);
  CHECK(read.values[0].line_of("c.l") == 6);
  CHECK(read.values[0].line_of("c.k") == 2);
}
