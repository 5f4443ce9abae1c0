#include "base/document.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace gnomon::base {
namespace {

enum class Fruit { apple, pear };

struct Inner {
  double weight_kg = 1;
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("weight_kg", self.weight_kg, Range{0, 10});
  }
};

struct Basket {
  static constexpr std::string_view schema = "gnomon.basket/1";
  std::string name;
  int count = 3;
  Fruit fruit = Fruit::apple;
  std::vector<Inner> inner;
  std::optional<bool> ripe;
  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("count", self.count, Range{1, 9});
    f("fruit", self.fruit);
    f("inner", self.inner);
    f("ripe", self.ripe);
  }
};

}  // namespace

template <>
struct EnumNames<Fruit> {
  static constexpr std::array<std::pair<Fruit, std::string_view>, 2> values{
      {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};
};

namespace {

Basket parse(const std::string& text) { return from_document<Basket>(parse_json(text, "b.json"), "b.json"); }

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Document, SurvivesARoundTrip) {
  const auto basket = parse(
      R"({"schema": "gnomon.basket/1", "name": "b", "fruit": "pear", "inner": [{"weight_kg": 2.5}, {}], "ripe": true})");
  EXPECT_EQ(basket.count, 3);
  EXPECT_EQ(basket.fruit, Fruit::pear);
  ASSERT_EQ(basket.inner.size(), 2U);
  EXPECT_EQ(basket.inner[1].weight_kg, 1);
  EXPECT_EQ(to_document(basket), to_document(parse(to_document(basket).dump())));
  EXPECT_EQ(to_document(basket).begin().key(), "schema");
}

TEST(Document, ErrorsNameFileAndField) {
  const std::string head = R"({"schema": "gnomon.basket/1", "name": "b")";
  EXPECT_EQ(error_of(R"({"schema": "gnomon.basket/2", "name": "b"})"),
            "b.json: schema: \"gnomon.basket/2\" cannot be read here; must be \"gnomon.basket/1\"");
  EXPECT_EQ(error_of(R"({"name": "b"})"), "b.json: schema: is missing; must be \"gnomon.basket/1\"");
  EXPECT_EQ(error_of(R"({"schema": "gnomon.basket/1"})"), "b.json: name: is missing");
  EXPECT_EQ(error_of(head + R"(, "colour": 1})"),
            "b.json: colour: is not a known field; the fields here are count, fruit, inner, name, ripe");
  EXPECT_EQ(error_of(head + R"(, "count": "three"})"), "b.json: count: must be an integer, not \"three\"");
  EXPECT_EQ(error_of(head + R"(, "count": 2.5})"), "b.json: count: must be an integer, not 2.5");
  EXPECT_EQ(error_of(head + R"(, "count": 10})"), "b.json: count: 10 is out of range; use 1 to 9");
  std::int64_t value = 0;
  EXPECT_NO_THROW(read_value(parse_json("9223372036854775807", "x"), value, "x", {}));
  EXPECT_EQ(value, std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(read_value(parse_json("9223372036854775808", "x"), value, "x", {}), InputError) << "one more";
  EXPECT_EQ(error_of(head + R"(, "inner": [{"weight_kg": -1}]})"),
            "b.json: inner[0].weight_kg: -1 is out of range; use 0 to 10");
  EXPECT_EQ(error_of(head + R"(, "fruit": "fig"})"),
            "b.json: fruit: \"fig\" is not known; use one of apple, pear");
  EXPECT_NE(error_of(head + R"(, "count": NaN})").find("b.json: not valid JSON: parse error at line 1"),
            std::string::npos);
}

TEST(Document, OptionalFieldsMayBeAbsentOrNull) {
  const auto without = parse(R"({"schema": "gnomon.basket/1", "name": "b"})");
  EXPECT_EQ(without.ripe, std::nullopt);
  EXPECT_FALSE(to_document(without).contains("ripe"));
  const Json all = to_document(without, Absent::as_null);
  EXPECT_TRUE(all["ripe"].is_null());
  EXPECT_EQ(parse(all.dump()).ripe, std::nullopt);
}

TEST(Document, ZeroCanMeanAbsent) {
  std::optional<int> count = 3;
  read_value(Json(0), count, "count", {0, 9, true});
  EXPECT_EQ(count, std::nullopt);
  read_value(Json(0), count, "count", {0, 9});
  EXPECT_EQ(count, 0);
  std::optional<double> weight_kg = 2;
  read_value(Json(0.0), weight_kg, "weight_kg", {0, 9, true});
  EXPECT_EQ(weight_kg, std::nullopt);
}

TEST(Document, NanIsOutOfEveryRange) {
  Basket basket;
  Json json = {{"name", "b"}, {"inner", {{{"weight_kg", std::nan("")}}}}};
  EXPECT_THROW(read_value(json, basket, "b", {}), InputError);
}

}  // namespace
}  // namespace gnomon::base
