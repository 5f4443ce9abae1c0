#include "profiles/questionable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnomon::profiles {
namespace {

using ::testing::HasSubstr;

TEST(QuestionableFactors, AreGainsThatNothingExplains) {
  Contention contention;
  EXPECT_TRUE(questionable_factors(contention).empty());
  contention.train_beside_cpu_batch = 1.4;
  contention.transfer_beside_train = 0.995;  // noise
  contention.beside_crowded_team = 0.6;      // single threads use the time in which a team waits
  EXPECT_TRUE(questionable_factors(contention).empty());
  contention.crowded_team = 0.53;
  contention.cpu_batch_beside_train = 0.8;
  const auto factors = questionable_factors(contention);
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[0].field, "cpu_batch_beside_train");
  EXPECT_EQ(factors[1].field, "crowded_team");
  EXPECT_EQ(factors[1].value, 0.53);
}

TEST(QuestionableFactors, AreToldInOneLine) {
  EXPECT_EQ(text_of(std::vector<QuestionableFactor>{}), "");
  const auto text = text_of({{"crowded_team", 0.53}, {"cpu_batch_beside_train", 0.8}});
  EXPECT_THAT(text, HasSubstr("questionable: crowded team 0.53x, cpu batch beside train 0.80x; "));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

}  // namespace
}  // namespace gnomon::profiles
