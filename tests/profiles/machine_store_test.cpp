#include "profiles/machine_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "base/document.h"
#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/fixtures/variable.h"

namespace gnomon::profiles {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

TEST(MachineKey, EachIngredientChangesTheFile) {
  std::vector<MachineKey> keys(10, test::some_key());
  keys[1].cpu = "Another CPU";
  keys[2].cores = 3;
  keys[3].physical_cores = 4;
  keys[4].node_cores = {4};
  keys[5].kernel = "6.1.1";
  keys[6].huge_pages = "always";
  keys[7].quota_cores = 1.5;
  keys[8].memory_limit_bytes = 8e9;
  keys[9].gpu = "NVIDIA H200";
  std::set<std::string> names;
  for (const auto& key : keys) {
    names.insert(file_name(key));
    EXPECT_EQ(is_same_machine(key, keys[0]), &key == keys.data());
    EXPECT_EQ(is_same_machine(key, keys[0], /*any_gpu=*/true), &key == keys.data() || &key == &keys[9]);
  }
  EXPECT_EQ(names.size(), keys.size());
}

TEST(MachineKey, FileNamesAndTextsAreReadable) {
  auto key = test::some_key();
  EXPECT_THAT(file_name(key), MatchesRegex("a-cpu-r-4-cores-[0-9a-f]{8}\\.json"));
  EXPECT_EQ(
      text_of(key),
      "A CPU (R), 4 cores, physical cores 2, NUMA nodes 2+2, kernel 6.1.0, transparent huge pages madvise");
  key.quota_cores = 1.5;
  key.memory_limit_bytes = 3.0 * (1 << 30);
  key.gpu = "NVIDIA H200";
  EXPECT_THAT(text_of(key), HasSubstr("CPU quota 1.5, memory limit 3 GiB, GPU NVIDIA H200"));
  EXPECT_THAT(file_name(key), MatchesRegex("a-cpu-r-4-cores-nvidia-h200-[0-9a-f]{8}\\.json"));
  key.cpu = std::string(500, '/') + "../..";
  EXPECT_THAT(file_name(key), MatchesRegex("[a-z0-9.-]{1,90}"));
}

TEST(MachineKey, OfThisMachineStaysTheSame) {
  EXPECT_EQ(machine_key(), machine_key());
  EXPECT_GE(machine_key().cores, 1);
  EXPECT_EQ(machine_key().gpu, "");
  EXPECT_NE(machine_key(/*with_gpu=*/true).gpu, "");
}

class MachineStoreTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory place;
  MachineStore store{place / "deep" / "machines"};
  MachineKey key = test::some_key();
};

TEST_F(MachineStoreTest, KeepsEveryField) {
  EXPECT_FALSE(store.find(key).machine.has_value());
  EXPECT_EQ(store.find(key).problem, "");
  EXPECT_THAT(store.list(), IsEmpty());
  auto machine = test::keyed_machine(40);
  machine.key->quota_cores = 1.0 / 3;
  machine.key->memory_limit_bytes = 8589934591;
  EXPECT_EQ(store.store(machine, Replace::shorter), "");
  const auto entry = store.find(*machine.key);
  ASSERT_TRUE(entry.machine.has_value()) << entry.problem;
  EXPECT_EQ(base::to_document(*entry.machine), base::to_document(machine));
  EXPECT_EQ(entry.file, store.file_of(*machine.key));
  EXPECT_GE(entry.age_s, 0);
  EXPECT_LT(entry.age_s, 1000);
  EXPECT_EQ(store.list().size(), 1U);
  EXPECT_EQ(read_machine(entry.file).key, machine.key) << "what explore --machine reads";
}

TEST_F(MachineStoreTest, LongerMeasurementsStayUnlessTheyAreToBeReplaced) {
  EXPECT_EQ(store.store(test::keyed_machine(40), Replace::shorter), "");
  EXPECT_THAT(store.store(test::keyed_machine(1), Replace::shorter),
              HasSubstr("a longer measurement is stored"));
  EXPECT_EQ(store.find(key).machine->speeds->seconds, 40);
  EXPECT_EQ(store.store(test::keyed_machine(40), Replace::shorter), "") << "as long: the newer one";
  EXPECT_EQ(store.store(test::keyed_machine(1), Replace::always), "");
  EXPECT_EQ(store.find(key).machine->speeds->seconds, 1);
}

TEST_F(MachineStoreTest, UnusableDocumentsAreProblemsAndReplaced) {
  const auto refused = [&](const std::string& text) {
    std::filesystem::create_directories(store.directory());
    base::write_file_atomically(store.file_of(key), text);
    const auto entry = store.find(key);
    EXPECT_FALSE(entry.machine.has_value()) << text;
    EXPECT_EQ(store.list().size(), 1U);
    EXPECT_EQ(store.store(test::keyed_machine(1), Replace::shorter), "") << "replaced, however short";
    EXPECT_TRUE(store.find(key).machine.has_value());
    return entry.problem;
  };
  const auto altered = [&](const std::string& path, const base::Json& value) {
    auto document = base::to_document(test::keyed_machine(40));
    document[base::Json::json_pointer(path)] = value;
    return refused(document.dump());
  };
  EXPECT_THAT(refused(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(refused(base::to_document(test::keyed_machine(40)).dump().substr(0, 300)),
              HasSubstr("not valid JSON"));
  EXPECT_THAT(altered("/schema", "gnomon.machine/0"), HasSubstr("schema"));
  EXPECT_THAT(altered("/speeds/speeds/0/per_s", -1), HasSubstr("out of range"));
  EXPECT_THAT(altered("/key/probes", probes_version - 1),
              HasSubstr("was measured by another version of gnomon"));
  EXPECT_THAT(altered("/key", nullptr), HasSubstr("has no key"));
  EXPECT_THAT(altered("/speeds", nullptr), HasSubstr("has no speeds"));
  EXPECT_THAT(altered("/key/cores", 8), HasSubstr("is the document of another machine: A CPU (R), 8 cores"));
}

TEST_F(MachineStoreTest, DirectoriesThatCannotBeMadeOrWrittenAreNoErrors) {
  place.write("file", "");
  const MachineStore below_a_file(place / "file" / "machines");
  EXPECT_NE(below_a_file.store(test::keyed_machine(1), Replace::always), "");
  EXPECT_FALSE(below_a_file.find(key).machine.has_value());
  EXPECT_THAT(below_a_file.list(), IsEmpty());
  EXPECT_EQ(below_a_file.forget_all(), 0);
  const MachineStore of_the_system("/proc/self/machines");  // where root cannot write, either
  EXPECT_NE(of_the_system.store(test::keyed_machine(1), Replace::always), "");
  const MachineStore none{std::filesystem::path()};
  none.store(test::keyed_machine(1), Replace::always);
  EXPECT_FALSE(none.find(key).machine.has_value());
  EXPECT_THAT(none.list(), IsEmpty());
  EXPECT_EQ(none.forget(key), 0);
}

TEST_F(MachineStoreTest, ForgetsOneMachineWithAnyGpuOrAll) {
  auto with_gpu = test::keyed_machine(1);
  with_gpu.key->gpu = "NVIDIA H200";
  auto other = test::keyed_machine(1);
  other.key->cores = 8;
  for (const auto& machine : {test::keyed_machine(1), with_gpu, other}) {
    EXPECT_EQ(store.store(machine, Replace::always), "");
  }
  EXPECT_EQ(store.forget(key), 2);
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.list().front().machine->key, other.key);
  EXPECT_EQ(store.forget(key), 0);
  base::write_file_atomically(store.file_of(key), "{");
  EXPECT_EQ(store.forget(key), 1) << "a damaged one";
  base::write_file_atomically(store.directory() / "a.json", "{");
  base::write_file_atomically(store.directory() / "a.json.tmp-1", "{");
  EXPECT_EQ(store.forget_all(), 2);
  EXPECT_TRUE(std::filesystem::is_empty(store.directory()));
}

/// A process that stores a machine again and again; its exit code is 0 if all went well.
pid_t storing_process(const MachineStore& store, int seconds) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_well = true;
    for (int i = 0; i < 10; ++i) {
      is_well = store.store(test::keyed_machine(seconds), Replace::always).empty() && is_well;
    }
    ::_exit(is_well ? 0 : 1);
  }
  return child;
}

TEST_F(MachineStoreTest, ProcessesMayStoreAtOnce) {
  const std::vector<pid_t> children{storing_process(store, 1), storing_process(store, 2)};
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(store.find(key).problem, "") << "a reader sees all of a document or none";
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(store.find(key).machine.has_value());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(store.directory()), {}), 1);
}

/// The directory of the store by the environment.
std::filesystem::path directory_by(std::optional<std::string> own, std::optional<std::string> xdg,
                                   std::optional<std::string> home) {
  const test::Variable a("GNOMON_CACHE", own);
  const test::Variable b("XDG_CACHE_HOME", xdg);
  const test::Variable c("HOME", home);
  const MachineStore store;
  EXPECT_EQ(store.why_none().empty(), !store.directory().empty());
  EXPECT_EQ(store.is_off(), own == "off" || own == "");
  return store.directory();
}

TEST(MachineStore, IsWhereTheEnvironmentSays) {
  EXPECT_EQ(directory_by({}, "/x", "/h"), "/x/gnomon/machines");
  EXPECT_EQ(directory_by({}, {}, "/h"), "/h/.cache/gnomon/machines");
  EXPECT_EQ(directory_by({}, "", "/h"), "/h/.cache/gnomon/machines");
  EXPECT_EQ(directory_by({}, "relative", "/h"), "/h/.cache/gnomon/machines");
  EXPECT_EQ(directory_by({}, {}, {}), "");
  EXPECT_EQ(directory_by({}, {}, ""), "");
  EXPECT_EQ(directory_by("off", "/x", "/h"), "");
  EXPECT_EQ(directory_by("", "/x", "/h"), "");
  EXPECT_EQ(directory_by("/c", "/x", "/h"), "/c/machines");
}

}  // namespace
}  // namespace gnomon::profiles
