#include "reproduce/paper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnomon::reproduce {
namespace {

using base::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Paper parse(const char* text) { return parse_paper(Json::parse(text), "f.json"); }

TEST(Paper, EveryDocumentNamesItsSourceAndHasNumbers) {
  ASSERT_FALSE(paper_names().empty());
  for (const auto& name : paper_names()) {
    const Paper paper = find_paper(name);
    EXPECT_EQ(paper.name, name);
    EXPECT_FALSE(paper.source.empty()) << name;
    EXPECT_FALSE(paper.facts.empty()) << name;
    for (const auto& fact : paper.facts) {
      EXPECT_FALSE(fact.label("table").empty()) << name;
    }
  }
}

TEST(Paper, RowsBecomeFacts) {
  const Paper paper = parse(R"({"tables": [{"id": "t1", "rows": [
      {"machine": "A", "system": "X", "epoch_s": 2.5, "printed": "2.5"},
      {"machine": "A", "system": "Y", "metric": "ratio", "value": 3, "layers": 4},
      {"machine": "A", "system": "Z", "epoch_s": null}]}]})");
  ASSERT_EQ(paper.facts.size(), 2U);
  EXPECT_EQ(paper.find({{"table", "t1"}, {"system", "X"}, {"metric", "epoch_s"}}), 2.5);
  EXPECT_EQ(paper.find({{"layers", "4"}, {"metric", "ratio"}}), 3);
  EXPECT_EQ(paper.find({{"system", "Z"}}), std::nullopt);
  EXPECT_THAT(paper.values("system", {{"machine", "A"}}), ElementsAre("X", "Y"));
}

TEST(Paper, GivenFactsComeBeforeItsOwn) {
  const Paper own =
      parse(R"({"rows": [{"system": "X", "epoch_s": 1}], "machines": [{"id": "A", "cores": 4}]})");
  const Paper more =
      parse(R"({"rows": [{"system": "X", "epoch_s": 2}], "machines": [{"id": "A", "cores": 8}]})");
  const Paper both = with(more, own);
  EXPECT_EQ(both.find({{"system", "X"}}), 2);
  EXPECT_EQ(both.machine("A")->number("cores", 0), 8);
  EXPECT_EQ(both.machine("A")->number("price", 7), 7);
  EXPECT_EQ(both.machine("B"), nullptr);
}

TEST(Paper, SaysWhatIsWrong) {
  const auto message = [](const char* text) { return [text] { parse(text); }; };
  EXPECT_THAT(message("[]"), ThrowsMessage<base::InputError>(HasSubstr("f.json: must be an object")));
  EXPECT_THAT(message(R"({"tables": [{"id": "t"}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("f.json.tables[0].rows: is missing")));
  EXPECT_THAT(message(R"({"rows": [{"epoch_s": "fast"}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("f.json.rows[0].epoch_s: must be a number")));
  EXPECT_THAT(message(R"({"rows": [], "machines": [{"cores": 1}]})"),
              ThrowsMessage<base::InputError>(HasSubstr("f.json.machines[0].id: is missing")));
  EXPECT_THAT([] { find_paper("none"); }, ThrowsMessage<base::InputError>(HasSubstr("morphgl")));
  EXPECT_THROW(parse("{}").at({{"table", "t"}}), base::Failure);
}

}  // namespace
}  // namespace gnomon::reproduce
