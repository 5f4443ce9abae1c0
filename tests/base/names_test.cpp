#include "base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> presets{"device",  "dgl",     "dgl-uva", "gnomon",
                                       "morphgl", "salient", "sota",    "t_sota"};

TEST(Names, ATypingErrorIsSimilar) {
  EXPECT_THAT(similar_names("gnomn", presets), ElementsAre("gnomon")) << "a letter is missing";
  EXPECT_THAT(similar_names("salinet", presets), ElementsAre("salient")) << "two letters are exchanged";
  EXPECT_THAT(similar_names("Sallient", presets), ElementsAre("salient")) << "one too many, and a capital";
  EXPECT_THAT(similar_names("morphgk", presets), ElementsAre("morphgl"));
  EXPECT_THAT(similar_names("t-sota", presets), ElementsAre("t_sota", "sota")) << "nearest first";
  EXPECT_THAT(similar_names("dg", presets), ElementsAre("dgl", "dgl-uva")) << "the beginning of both";
  EXPECT_THAT(similar_names("nothing", presets), IsEmpty());
  EXPECT_THAT(similar_names("", presets), IsEmpty());
}

TEST(Names, AMessageTellsSimilarNamesOrAll) {
  EXPECT_EQ(unknown_name("gnomn", presets, "a file"), "\"gnomn\" is not known; did you mean gnomon?");
  EXPECT_EQ(unknown_name("dg", presets, "a file"), "\"dg\" is not known; did you mean dgl or dgl-uva?");
  EXPECT_EQ(unknown_name("other", {"one", "two"}, "a file"),
            "\"other\" is not known; use a file or one of one, two");
}

TEST(Names, AnExistingFileIsAFile) {
  const test::TemporaryDirectory directory;
  directory.write("plan", "{}");
  EXPECT_TRUE(names_file((directory / "plan").string()));
  EXPECT_TRUE(names_file("missing.json")) << "which then cannot be read";
  EXPECT_FALSE(names_file((directory / "missing").string()));
  EXPECT_FALSE(names_file(directory.path().string()));
}

}  // namespace
}  // namespace gnomon::base
