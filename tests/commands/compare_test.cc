// regard compare: a row for everything that is asked for, on a corpus and at sizes that take a
// moment.
#include <cmath>
#include <filesystem>
#include <sstream>

#include "command_test_util.h"

namespace regard::commands {
namespace {

class Compare : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::string rows;
    for (const char* row :
         {"a b c\tc b a\n", "b a\ta b\n", "c\tc\n", "a c\tc a\n", "b b a\ta b b\n"})
      rows += row;
    write("pairs.tsv", rows);
    std::filesystem::create_directory(folder() + "/temporary");
  }
  // Nothing else lies in the folder afterwards.
  Result compare(const std::string& options, const std::string& tokens = "word") {
    const std::string sizes = " --embedding 4 --hidden 6 --threads 1 ";
    const Result r = run("compare pairs.tsv --dev pairs.tsv --tokens " + tokens + sizes + options,
                         "", "TMPDIR=\"$PWD/temporary\"");
    EXPECT_TRUE(std::filesystem::is_empty(folder() + "/temporary")) << options;
    return r;
  }
  std::vector<nlohmann::json> objects(const Result& r) {
    std::vector<nlohmann::json> all;
    for (const std::string& line : split_lines(r.out)) all.push_back(parse_json(line));
    return all;
  }
};

// Lines that start with these words, apart by blanks.
int rows_of(const std::string& table, const std::string& score, const std::string& normalizer) {
  int count = 0;
  for (const std::string& line : split_lines(table)) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    count += first == score && second == normalizer ? 1 : 0;
  }
  return count;
}

TEST_F(Compare, HasARowForEachScoreAndEachNormaliser) {
  const Result r = compare("--updates 2");
  ASSERT_EQ(r.code, 0) << r.err;
  const Lines scores = {"additive", "dot",      "scaled-dot",         "general", "concat",
                        "cosine",   "location", "location-sensitive", "coverage"};
  EXPECT_EQ(rows_of(r.out, "none", "-"), 1) << r.out;
  for (const std::string& score : scores) EXPECT_EQ(rows_of(r.out, score, "softmax"), 1) << r.out;
  for (const char* normalizer :
       {"sparsemax", "entmax15", "entmax", "sigmoid", "monotonic", "mocha", "local-p", "local-m"}) {
    EXPECT_EQ(rows_of(r.out, "additive", normalizer), 1) << normalizer << "\n" << r.out;
  }
  EXPECT_EQ(split_lines(r.out).size(), 19U);
  EXPECT_EQ(r.out.find("refused"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('*'), std::string::npos) << "marks are for terminals";
  EXPECT_NE(r.err.find("--encoder-hidden 3 for all"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("18/18 additive local-m"), std::string::npos) << r.err;
}

TEST_F(Compare, RefusedEntriesStayWithTheirReason) {
  const Result r = compare(
      "--updates 2 --attention general,dot,coverage --projections --normalizer "
      "softmax,monotonic,hardmax");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(split_lines(r.out).size(), 10U) << r.out;
  EXPECT_NE(r.out.find("it is --attention dot --projections"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("one state can't be both"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("give --straight-through"), std::string::npos) << r.out;
  EXPECT_EQ(rows_of(r.out, "dot", "monotonic"), 1) << r.out;

  const Result all = compare("--attention dot --encoder-hidden 5 --json");
  EXPECT_EQ(all.code, 2);
  EXPECT_NE(objects(all).at(0)["refused"].get<std::string>().find("--encoder-hidden 3"),
            std::string::npos);
}

TEST_F(Compare, JsonHoldsWhatTheModelIsAndWhatWasMeasured) {
  const Result r =
      compare("--json --updates 3 --attention none,additive,dot --seeds 2 --keep kept", "char");
  ASSERT_EQ(r.code, 0) << r.err;
  const auto rows = objects(r);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0]["normalizer"].is_null());
  EXPECT_EQ(rows[1]["attention_parameters"], 6 * 6 + 6 * 6 + 6);  // W_1, W_2, v
  EXPECT_EQ(rows[2]["attention_parameters"], 0);
  for (const auto& row : rows) {
    EXPECT_EQ(row["updates"], 3);
    EXPECT_EQ(row["seeds"], 2);
    EXPECT_EQ(row["encoder_hidden"], 3);
    EXPECT_GT(row["dev_loss"], 0.0);
    EXPECT_GE(row["dev_loss_deviation"], 0.0);
    EXPECT_TRUE(row.contains("exact")) << "of targets in characters";
    EXPECT_GT(row["decoding_sentences_per_second"], 0.0);
  }
  for (const std::string name : {"none-seed1", "additive-softmax-seed1", "dot-softmax-seed2"}) {
    const Result info = run("info --json kept/" + name + ".regard");
    ASSERT_EQ(info.code, 0) << info.err;
    EXPECT_EQ(parse_json(info.out)["training"]["updates"], 3);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder() + "/kept"), {}), 6);
}

TEST_F(Compare, ARowIsWhatTrainMakes) {
  const std::string sizes =
      " --tokens word --embedding 4 --hidden 6 --threads 1 --updates 4 --attention additive ";
  ASSERT_EQ(compare("--updates 4 --attention additive --keep kept").code, 0);
  ASSERT_EQ(run("train pairs.tsv --dev pairs.tsv -o m --patience 0" + sizes).code, 0);
  EXPECT_EQ(read(folder() + "/m"), read(folder() + "/kept/additive-softmax.regard"));
}

TEST_F(Compare, WidthsShowHowFlatTheRowsAre) {
  const Result r = compare("--json --updates 3 --attention none --widths 4,8");
  ASSERT_EQ(r.code, 0) << r.err;
  const auto rows = objects(r);
  ASSERT_EQ(rows.size(), 5U);
  // Rows of 4, 3, 2, 3, 4 target tokens see that many places.
  const double log_length = std::log((16.0 + 9.0 + 4.0 + 9.0 + 16.0) / 16.0);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(rows[i]["attention"], i < 3 ? "dot" : "scaled-dot");
    EXPECT_EQ(rows[i]["width"], i % 2 == 1 ? 4 : 8);
    EXPECT_NEAR(rows[i]["log_source_length"].get<double>(), log_length, 1e-9);
    for (const char* when : {"untrained", "trained"}) {
      const double entropy = rows[i][std::string("entropy_") + when];
      const double largest = rows[i][std::string("largest_") + when];
      EXPECT_GT(entropy, 0.0);
      EXPECT_LE(entropy, log_length);
      EXPECT_GE(largest, std::exp(-entropy) - 1e-6);  // no row is flatter than its largest weight
      EXPECT_LE(largest, 1.0);
    }
  }
  const double flat = rows[4]["entropy_untrained"], unscaled = rows[2]["entropy_untrained"];
  EXPECT_GT(flat, unscaled) << "the same start values, scores divided by the root of 8";
  const Result table = compare("--updates 2 --attention none --widths 4");
  EXPECT_EQ(rows_of(table.out, "scaled-dot", "4"), 1) << table.out;
}

TEST_F(Compare, WrongNamesAreRefusedWithTheRightOnes) {
  const std::pair<const char*, const char*> refused[] = {
      {"--attention additive,nearest", "location-sensitive, coverage, none"},
      {"--attention additive,,dot", "empty name"},
      {"--attention dot,dot", "dot twice"},
      {"--normalizer softest", "choose one of softmax, sparsemax"},
      {"--widths 7", "even numbers"},
      {"--widths many", "even numbers"},
      {"--decoder fixed", "the entry none"},
      {"--decoder deep", "choose one of fixed"},
      {"--metric elegance", "elegance"},
      {"--seeds 0", "--seeds"},
      {"--dropout 1", "--dropout"}};
  for (const auto& [options, words] : refused) {
    const Result r = compare(options);
    EXPECT_EQ(r.code, 2) << options << "\n" << r.err;
    EXPECT_EQ(r.out, "") << options;
    EXPECT_NE(r.err.find(words), std::string::npos) << options << "\n" << r.err;
  }
  const Result r = run("compare pairs.tsv --tokens word");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("--dev"), std::string::npos) << r.err;
}

TEST_F(Compare, AStoppedRunPrintsWhatIsThere) {
  const Result r = shell(
      "export TMPDIR=\"$PWD/temporary\"\n"
      "\"$REGARD\" compare pairs.tsv --dev pairs.tsv --tokens word --embedding 4 --hidden 6 "
      "--threads 1 --epochs 100000 --updates 300 >table 2>log & p=$!\n"
      "until grep -q '^1/18 ' log || ! kill -0 $p; do sleep 0.02; done\n"
      "kill -INT $p; wait $p");
  EXPECT_EQ(r.code, 130) << read(folder() + "/log");
  const std::string table = read(folder() + "/table");
  EXPECT_EQ(rows_of(table, "none", "-"), 1) << table;
  EXPECT_EQ(rows_of(table, "additive", "local-m"), 0) << table;
  EXPECT_TRUE(std::filesystem::is_empty(folder() + "/temporary"));
}

}  // namespace
}  // namespace regard::commands
