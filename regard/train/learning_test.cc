// The reverse task at its full size, nearly as the command would train it: learnt, or something is
// wrong with the whole.
#include <gtest/gtest.h>

#include "regard/base/scratch_folder_test_util.h"
#include "regard/train/reverse_task_test_util.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

using Learning = ScratchFolder;

TEST_F(Learning, TheReverseTaskIsLearntByTheDefaults) {
#if defined(REGARD_SANITIZED)
  GTEST_SKIP() << "minutes under a sanitizer, and smaller runs go the same ways";
#endif
  const test::ReverseShape shape;  // 3 to 12 of 26 letters
  const test::Task task(test::reverse_pairs(2000, 1, shape), test::reverse_pairs(100, 2, shape), 32,
                        64);
  TrainOptions o;  // but for narrower layers, a higher rate for them, and fewer epochs
  o.epochs = 24;
  o.learning_rate = 3e-3;
  test::train(task, o, {folder() + "/m"});
  const auto model = load_model(folder() + "/m");
  const EncodedPairs unseen = encode_pairs(test::reverse_pairs(200, 3, shape), task.tokens, 0);
  Threads team(2);
  EXPECT_GE(translation_metric(*model, unseen, "exact", 2000, team), 98.0);
}

}  // namespace
}  // namespace regard
