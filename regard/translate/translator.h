// Translator: a loaded model that turns text into records. What the command line, servers and host
// programs call.
//
//   const Translator translator("fr-en.regard");
//   Threads threads(2);
//   std::vector<std::string> lines = {"nous mangeons du pain"};
//   std::string english = translator.translate(lines, {}, threads)[0][0].target;
//
// A record depends on its own line, the options and the model: not on other lines, batches, threads
// or the processor. One line in, one list of records out, in order; a blank line gives one blank
// record.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "regard/base/threads.h"
#include "regard/model/model.h"
#include "regard/text/corpus.h"
#include "regard/translate/options.h"
#include "regard/translate/record.h"
#include "regard/translate/token_step.h"

namespace regard {

// What Translator::translate() does, for a model that someone else owns (the trainer's).
std::vector<std::vector<Record>> translate_lines(const Model& model,
                                                 std::span<const std::string> lines,
                                                 const TranslateOptions& options, Threads& threads);

// Immutable once made; every member may be called from many threads at once, each with its own
// Threads.
class Translator {
 public:
  // Errors  as load_model; ConfigError when REGARD_FORCE_ISA can't be followed
  explicit Translator(const std::string& model_path);
  explicit Translator(std::unique_ptr<const Model> model);

  const Model& model() const { return *model_; }

  // For each line its records, best first: at least one, at most `nbest`; fewer when the model can
  // say fewer things.
  //
  // Values  unknown output tokens become copies of the source word that their step looked at most;
  //         flags tell of it, of cut sources and of what stopped or repeated (flags.h)
  // Errors  ConfigError: options out of range; FormatError (data): a line is not UTF-8
  std::vector<std::vector<Record>> translate(std::span<const std::string> lines,
                                             const TranslateOptions& options,
                                             Threads& threads) const;

  // How likely the model finds each target, given its source; one record a pair.
  //
  // Values  `log_prob` has the bits that translate() gives for the same tokens. A blank source
  //         gives a blank record; a blank target is scored as the end marker alone
  // Errors  as translate
  std::vector<Record> score(std::span<const Pair> pairs, const ScoreOptions& options,
                            Threads& threads) const;

  // Which source words the model looked at for each target word; one record a pair, with `links`
  // (argmax over real columns) and `dropped`.
  //
  // Values  words by the rule of align/align.h; with `pieces` tokens and end markers, nothing
  //         dropped. A pair with a blank side gives a blank record
  // Errors  as translate; ConfigError for a model without attention
  std::vector<Record> align(std::span<const Pair> pairs, const AlignOptions& options,
                            Threads& threads) const;

  // What happened at each step that wrote `record` (of translate or score with the same
  // `max_source_length`): one entry a target token, with the `most` likeliest next tokens.
  // Errors  ShapeError if the record holds no ids of this model
  std::vector<TokenStep> steps(const Record& record, std::size_t most = 5) const;

  // Where a self-attention encoder looks while it reads `line`: rows and columns of the record's
  // attention are the source tokens, row i the weights with which token i looks at the others.
  //
  // Values  a record with `layer` and `head`, no scores, and the source in place of the target. A
  //         blank line gives a blank record
  // Errors  ConfigError: the encoder is recurrent (the error names what would do); a layer or head
  //         that it has not; FormatError (data): the line is not UTF-8
  Record self_attention(const std::string& line, const SelfAttentionOptions& options) const;

 private:
  std::unique_ptr<const Model> model_;
};

}  // namespace regard
