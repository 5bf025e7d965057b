// regard show: one sentence, its translation, and where the model looked.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
#include "regard/cli/line_report.h"
#include "regard/cli/output.h"
#include "regard/cli/terminal.h"
#include "regard/text/utf8.h"
#include "regard/translate/record_json.h"
#include "regard/translate/translator.h"
#include "regard/view/cells.h"
#include "regard/view/steps.h"
#include "regard/view/svg.h"

namespace regard::cli {
namespace {

struct ShowArguments {
  CommonArguments common;
  SearchArguments search;
  LengthArguments length;
  std::vector<std::string> words;
  std::string target, svg, color = "auto";
  CLI::Option* target_option = nullptr;
  SelfAttentionOptions self;
  bool show_self = false, steps = false, json = false, ascii = false;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Record make_record(const ShowArguments& a, const Translator& translator) {
  Threads threads(a.common.threads);
  const std::string sentence = joined(a.words);
  require_utf8(sentence, "SENTENCE");
  require_utf8(a.target, "--target");
  for (const std::string* text : {&sentence, &a.target}) {
    if (text->find('\n') != std::string::npos) {
      throw ConfigError("show takes one sentence; a line end stands in '" + *text + "'");
    }
  }
  if (a.show_self) {
    SelfAttentionOptions options = a.self;
    options.max_source_length = a.search.options.max_source_length;
    return translator.self_attention(sentence, options);
  }
  const LengthFormula formula = length_formula_from_name(a.length.formula);
  if (a.target_option->count() > 0) {
    ScoreOptions options;
    options.formula = formula;
    options.length_penalty = a.length.penalty;
    options.max_source_length = a.search.options.max_source_length;
    options.with_attention = true;
    const Pair pair{sentence, a.target};
    return translator.score(std::span(&pair, 1), options, threads)[0];
  }
  TranslateOptions options = a.search.options;
  options.formula = formula;
  options.length_penalty = a.length.penalty;
  options.with_attention = true;
  return translator.translate(std::span(&sentence, 1), options, threads)[0][0];
}

// " / T" where the scores are divided by a temperature here.
std::string divided(const ModelConfig& config, bool here) {
  return config.temperature == 1.0 || !here
             ? ""
             : " / " + nlohmann::ordered_json(config.temperature).dump();
}

// The model's own equation, with the state that asks.
std::string plain_score_formula(const ModelConfig& config) {
  std::string s = "s_i";
  if (config.decoder == DecoderKind::kBahdanau) s = "s_(i-1)";
  if (config.decoder == DecoderKind::kConditional) s = "s'_i";
  const bool projected = config.projections;
  const std::string query = projected ? "W_Q " + s : s;
  const std::string key = projected ? "W_K h_j" : "h_j";
  const std::string added = "v . tanh(W_1 " + s + " + W_2 h_j";
  const Index width = (projected ? config.attention_width : config.memory()) / config.heads;
  switch (config.attention) {
    case AttentionKind::kAdditive:
      return added + ")";
    case AttentionKind::kDot:
      return query + " . " + key;
    case AttentionKind::kScaledDot:
      return query + " . " + key + " / sqrt(" + std::to_string(width) + ")";
    case AttentionKind::kGeneral:
      return s + " W h_j";
    case AttentionKind::kConcat:
      return "v . tanh(W [" + s + "; h_j])";
    case AttentionKind::kCosine:
      return query + " . " + key + " / (|" + query + "| |" + key + "|)";
    case AttentionKind::kLocation:
      return "(W " + s + ")_j";
    case AttentionKind::kLocationSensitive:
      return added + " + U f_j), f_j around j in the weights of the word before";
    case AttentionKind::kCoverage:
      return added + " + u (sum of past weights)_j)";
  }
  return {};
}

std::string score_formula(const ModelConfig& config) {
  const std::string plain = plain_score_formula(config);
  const std::string by = divided(config, config.divides_scores());
  return by.empty() ? plain : "(" + plain + ")" + by;
}

// How its scores become weights.
std::string normalizer_formula(const ModelConfig& config) {
  const std::string e = "e_i" + divided(config, !config.divides_scores());
  const std::string window = std::to_string(config.window);
  switch (config.normalizer) {
    case WeightsKind::kSoftmax:
      return config.temperature == 1.0 ? "exp(e_ij) / sum_k exp(e_ik)" : "softmax(" + e + ")_j";
    case WeightsKind::kSparsemax:
      return "sparsemax(e_i)_j: small ones are exactly 0";
    case WeightsKind::kEntmax15:
      return "entmax(e_i)_j with alpha = 1.5: small ones are exactly 0";
    case WeightsKind::kEntmax:
      return "entmax(e_i)_j with the learnt alpha: small ones are exactly 0";
    case WeightsKind::kHardmax:
      return "1 where e_ij is the largest, else 0";
    case WeightsKind::kSigmoid:
      return "sigma(e_ij + r), each by itself";
    case WeightsKind::kMonotonic:
      return "monotonic(sigma(e_ij + r)): never back behind the word before";
    case WeightsKind::kMocha:
      return "monotonic(sigma(e_ij + r)), then softmax over the last " + window + " positions";
    case WeightsKind::kLocalP:
      return "softmax(" + e + ")_j within " + window + " of p_i, times a Gaussian around p_i";
    case WeightsKind::kLocalM:
      return "softmax(" + e + ")_j within " + window + " of position min(i, S)";
  }
  return {};
}

void show(ShowArguments& a, Output& output) {
  const Translator translator(a.common.model);
  const Record record = make_record(a, translator);
  if (a.svg == "-") {
    output.text(render_svg(record));
    return;
  }
  if (!a.svg.empty()) replace_file(a.svg, render_svg(record));
  if (a.json) {
    output.line(to_json(record));
    return;
  }
  StepsOptions options;
  options.terminal = terminal_options(a.color, a.ascii);
  options.terminal.heading = false;
  options.terminal.legend = true;
  output.line(visible_text(record.source) + (a.show_self
                                                 ? " (layer " + std::to_string(record.layer) +
                                                       ", head " + std::to_string(record.head) + ")"
                                                 : " -> " + visible_text(record.target)));
  output.line("");
  output.text(render_terminal(record, options.terminal));
  if (a.steps) {
    const ModelConfig& config = translator.model().network.config();
    options.score_formula = score_formula(config);
    options.normalizer_formula = normalizer_formula(config);
    if (config.projections) options.context_formula = "W_O sum_j a_ij W_V h_j";
    if (config.heads > 1) {
      options.context_formula += ", each of " + std::to_string(config.heads) +
                                 " heads with weights of its own; shown are their means";
    }
    output.line("");
    output.text(render_steps(record, translator.steps(record), options));
  }
  LineReport report(a.common.quiet, 0, translator.model().source_tokens.kind());
  report.add({record});  // its warnings; a summary of one line would say nothing
  if (!a.svg.empty()) report.note("picture: " + a.svg);
}

}  // namespace

Run add_show(CLI::App& app) {
  auto a = std::make_unique<ShowArguments>();
  CLI::App* c = app.add_subcommand("show", "one sentence, and where the model looked");
  c->add_option("SENTENCE", a->words, "words are joined by blanks")->required();
  add_common(*c, a->common);
  a->target_option =
      c->add_option("--target", a->target, "show this translation instead of the model's own");
  a->target_option->type_name("TEXT");
  CLI::Option* steps =
      c->add_flag("--steps", a->steps, "and for each word: scores, weights, context, next words");
  CLI::Option* self =
      c->add_flag("--self", a->show_self, "where a self-attention encoder looked at the sentence")
          ->excludes(steps)
          ->excludes(a->target_option);
  c->add_option("--layer", a->self.layer, "with --self: which layer, from 1")
      ->needs(self)
      ->capture_default_str();
  c->add_option("--head", a->self.head, "with --self: which head, from 1")
      ->needs(self)
      ->capture_default_str();
  c->add_option("--svg", a->svg, "and draw the picture into a file; - is standard output")
      ->type_name("F");
  c->add_flag("--json", a->json, "the record, instead of a picture in the terminal");
  c->add_flag("--ascii", a->ascii, "frames and shades of ASCII");
  c->add_option("--color", a->color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  add_beam(*c, a->search);
  add_length(*c, a->length);
  add_limits(*c, a->search);
  return [a = std::move(a)] { return with_output([&](Output& output) { show(*a, output); }); };
}

}  // namespace regard::cli
