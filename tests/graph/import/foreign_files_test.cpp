#include "graph/import/foreign_files.h"

#include <gtest/gtest.h>

#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"

namespace gnomon::graph {
namespace {

class ForeignFiles : public ImportFixture {
 protected:
  std::string error_of(const std::string& file, Format format = Format::automatic) {
    auto options = options_for(file);
    options.format = format;
    return error(options);
  }
};

TEST_F(ForeignFiles, TablesAreConvertedByPandas) {
  const std::string parquet =
      "e.parquet: is a Parquet file; convert it with three lines of Python: import pandas; edges = "
      "pandas.read_parquet(\"e.parquet\"); edges.to_csv(\"e.csv\", index=False)";
  write_text(directory_ / "e.parquet", "PAR1 and so on PAR1");
  EXPECT_EQ(error_of("e.parquet"), parquet);
  EXPECT_EQ(error_of("e.parquet", Format::edge_list), parquet);
  for (const std::string magic : {"ARROW1", "FEA1"}) {
    write_text(directory_ / "e.feather", magic + std::string("\0\0 and so on ", 13) + magic);
    EXPECT_EQ(
        error_of("e.feather"),
        "e.feather: is a Feather (Arrow) file; convert it with three lines of Python: import pandas; edges = "
        "pandas.read_feather(\"e.feather\"); edges.to_csv(\"e.csv\", index=False)");
  }
}

TEST_F(ForeignFiles, PyTorchsAreConvertedByPyTorch) {
  const std::string torch =
      "d.pt: is a file of torch.save; convert it with three lines of Python: import numpy, torch; d = "
      "torch.load(\"d.pt\", weights_only=False); numpy.savez(\"d.npz\", edge_index=d.edge_index, x=d.x, "
      "y=d.y, "
      "train_mask=d.train_mask, val_mask=d.val_mask, test_mask=d.test_mask)";
  zip_t* archive = zip_open((directory_ / "d.pt").c_str(), ZIP_CREATE, nullptr);
  zip_file_add(archive, "d/data.pkl", zip_source_buffer(archive, "x", 1, 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
  EXPECT_EQ(error_of("d.pt"), torch);
  EXPECT_EQ(error_of("d.pt", Format::npz), torch);
  write_text(directory_ / "d.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.and so on");
  EXPECT_EQ(error_of("d.pt"), torch);
  write_text(directory_ / "d.pkl", "\x80\x04\x95 and so on.");
  EXPECT_EQ(
      error_of("d.pkl").substr(0, 100),
      "d.pkl: is a pickle; convert it with three lines of Python: import numpy, pickle; d = pickle.load(ope");
}

TEST_F(ForeignFiles, OneArrayIsPutIntoAnArchive) {
  write_text(directory_ / "e.npy", integers({2, 1}, {0, 1}));
  EXPECT_EQ(error_of("e.npy"),
            "e.npy: is one NumPy array; convert it with three lines of Python: import numpy; edges = "
            "numpy.load(\"e.npy\"); numpy.savez(\"e.npz\", edge_index=edges)");
  write_text(directory_ / "empty.npz", std::string("PK\5\6", 4) + std::string(18, '\0'));
  EXPECT_EQ(error_of("empty.npz"),
            "empty.npz: has neither edge_index (or edges), adj_indptr nor SciPy's format and shape; it holds "
            "nothing");
}

TEST_F(ForeignFiles, TextThatBeginsLikeOneIsText) {
  for (const std::string start : {"PAR1", "PK", "FEA1", "ARROW1"}) {
    write_text(directory_ / "genes.txt", start + "\tBRCA1\nBRCA1\tTP53\n");
    EXPECT_EQ(names_of(import(options_for("genes.txt"))), (std::vector<std::string>{start, "BRCA1", "TP53"}));
  }
}

}  // namespace
}  // namespace gnomon::graph
