#include "regard/cli/train_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "regard/base/error.h"
#include "regard/train/subword_trainer.h"

namespace regard::cli {
namespace {

void add_data_options(CLI::App& c, TrainArguments& a) {
  c.add_option("PAIRS", a.train.pairs,
               "pairs to learn: source TAB target a line; .gz, .zst or - for standard input");
  c.add_option("--dev", a.dev.pairs, "pairs to validate on; without it, part of PAIRS from 200 on")
      ->type_name("PAIRS");
  c.add_option("--source", a.train.source, "two files instead of PAIRS: sources")->type_name("F");
  c.add_option("--target", a.train.target, "and targets, line by line")->type_name("F");
  c.add_option("--dev-source", a.dev.source, "likewise for --dev")->type_name("F");
  c.add_option("--dev-target", a.dev.target, "and its targets")->type_name("F");
  c.add_flag("--swap", a.swap, "learn target to source");
  c.add_flag("--lenient", a.lenient, "repair bad bytes and skip malformed rows, counted");
  c.add_option("--tokens", a.tokens, "auto, char, word, subword or subword:SIZE")
      ->capture_default_str();
  c.add_option("--source-tokens", a.source_tokens, "the same for one side");
  c.add_option("--target-tokens", a.target_tokens, "and for the other");
  c.add_flag("--joint", a.joint, "one vocabulary for both sides");
  c.add_option("--min-count", a.min_count, "rarer tokens become unknown (char, word)")
      ->capture_default_str();
  c.add_option("--vocab-size", a.vocabulary_size, "tokens kept a side, 0 for all (char, word)")
      ->capture_default_str();
  c.add_option("--max-source-length", a.max_source_length,
               "longer sources are cut, tokens; 0: no limit")
      ->capture_default_str();
}

void add_model_options(CLI::App& c, TrainArguments& a) {
  c.add_option("--decoder", a.decoder, "fixed, bahdanau, conditional or luong")
      ->capture_default_str();
  c.add_option("--temperature", a.temperature,
               "scores are divided by it; 0: 1, and 0.1 for --attention cosine")
      ->capture_default_str();
  c.add_option("--window", a.window,
               "positions on each side (local-p, local-m; 0: 5) or of a chunk (mocha; 0: 2)")
      ->capture_default_str();
  c.add_option("--heads", a.heads, "looks side by side, with --projections")->capture_default_str();
  c.add_flag("--projections", a.projections,
             "matrices for queries, keys, values and contexts, instead of the states themselves");
  c.add_flag("--weight-norm", a.weight_norm,
             "scores v . tanh(...): v by length and direction, and a bias in the tanh");
  c.add_flag("--straight-through", a.straight_through,
             "hardmax: gradients pass as through softmax");
  c.add_flag("--input-feeding,!--no-input-feeding", a.input_feeding,
             "luong: feed the last read-out back (default on)");
  c.add_flag("--feed-context", a.feed_context, "fixed: the context vector at every step");
  c.add_option("--cell", a.cell, "gru or lstm, both sides")->capture_default_str();
  c.add_option("--encoder", a.encoder, "for the encoder alone: gru, lstm or self-attention")
      ->type_name("KIND");
  c.add_option("--layers", a.layers, "both sides")->capture_default_str();
  c.add_option("--embedding", a.embedding, "width of embeddings")->capture_default_str();
  c.add_option("--hidden", a.hidden, "width of the decoder")->capture_default_str();
  c.add_option("--encoder-hidden", a.encoder_hidden,
               "width of one direction of the encoder, or of all of self-attention; 0: --hidden")
      ->capture_default_str();
  c.add_option("--encoder-layers", a.encoder_layers,
               "layers of the encoder; 0: --layers, of self-attention at least 2")
      ->capture_default_str();
  c.add_option("--encoder-heads", a.encoder_heads, "self-attention: heads; 0: 4")
      ->capture_default_str();
  c.add_option("--feed-forward", a.feed_forward,
               "self-attention: width inside a layer's feed-forward part; 0: 4 times the encoder's")
      ->capture_default_str();
  c.add_option("--positions", a.positions,
               "self-attention: sinusoidal, relative or none; not given: sinusoidal")
      ->type_name("KIND");
  c.add_flag("--unidirectional", a.unidirectional, "the encoder reads forward only");
  c.add_option("--readout", a.readout,
               "width before the output layer; 0: --hidden, tied: --embedding")
      ->capture_default_str();
  c.add_option("--start", a.start, "the decoder's first state: last, mean or zero")
      ->capture_default_str();
  c.add_option("--tie", a.tie,
               "target: output layer = target embedding; all: source too (--joint)");
}

void add_run_options(CLI::App& c, TrainArguments& a) {
  TrainOptions& o = a.options;
  c.add_option("--epochs", o.epochs, "passes over the data; 0: for about 6,000 updates, 10 to 300")
      ->capture_default_str();
  c.add_option("--updates", o.updates, "stop after that many; 0: no limit")->capture_default_str();
  c.add_option("--batch-tokens", o.batch_tokens,
               "padded tokens a side; 0: 500 to 2,000 by the data")
      ->capture_default_str();
  c.add_option("--shards", o.shards, "parts of a batch: 1, 2, 4 or 8; 0: by the batch")
      ->capture_default_str();
  c.add_option("--learning-rate", o.learning_rate, "of Adam; falls over the second half of the run")
      ->capture_default_str();
  c.add_option("--dropout", a.dropout, "on embeddings, between layers, memory and read-out")
      ->capture_default_str();
  c.add_option("--dropout-embedding", a.dropout_embedding, "instead of --dropout: on embeddings")
      ->type_name("R");
  c.add_option("--dropout-layer", a.dropout_layer, "between layers")->type_name("R");
  c.add_option("--dropout-memory", a.dropout_memory, "on what the encoder hands over")
      ->type_name("R");
  c.add_option("--dropout-readout", a.dropout_readout, "before the output layer")->type_name("R");
  c.add_option("--attention-dropout", a.attention_dropout, "on the weights of attention")
      ->capture_default_str();
  c.add_option("--coverage-loss", a.coverage_loss,
               "weight of the loss of looking twice, a target token (--attention coverage)")
      ->capture_default_str();
  c.add_option("--clip", o.clip, "largest gradient norm; 0: none")->capture_default_str();
  c.add_option("--label-smoothing", o.label_smoothing,
               "probability spread over all tokens, 0 to below 1")
      ->capture_default_str();
  c.add_option("--patience", o.patience,
               "validations without a better one before the end; 0: never")
      ->capture_default_str();
  c.add_option("--metric", o.metric, "what is best on dev: loss, bleu, chrf, exact, wer, ser, cer")
      ->capture_default_str();
  c.add_option("--validate-every", o.validate_every, "updates; 0: once an epoch, 10 apart at least")
      ->capture_default_str();
  c.add_option("--seed", o.seed, "of start values, order and dropout")->capture_default_str();
  c.add_option("--threads", o.threads, "no effect on the result; shards run on them")
      ->capture_default_str();
}

void choose_encoder(const TrainArguments& a, ModelConfig& c) {
  c.bidirectional = !a.unidirectional;
  c.encoder_hidden = a.encoder_hidden > 0 ? a.encoder_hidden : a.hidden;
  c.encoder_cell = c.decoder_cell;
  c.encoder_heads = a.encoder_heads;
  c.feed_forward = a.feed_forward;
  if (!a.positions.empty()) c.positions = positions_from_name(a.positions);
  if (a.encoder == name(EncoderKind::kSelfAttention)) {
    c.encoder = EncoderKind::kSelfAttention;
    if (c.encoder_heads == 0) c.encoder_heads = 4;
    if (c.feed_forward == 0) c.feed_forward = 4 * c.encoder_hidden;
    if (a.positions.empty()) c.positions = PositionKind::kSinusoidal;
  } else if (a.encoder == "gru" || a.encoder == "lstm") {
    c.encoder_cell = cell_from_name(a.encoder);
  } else if (!a.encoder.empty()) {
    throw ConfigError("encoder '" + a.encoder +
                      "' is unknown; choose one of gru, lstm, self-attention");
  }
  c.encoder_layers = a.encoder_layers;
  if (c.encoder_layers == 0)
    c.encoder_layers = c.self_attention() ? std::max(2, a.layers) : a.layers;
}

// The choices of attention; `longest` is the longest source, end marker included.
void choose_attention(const TrainArguments& a, Index longest, ModelConfig& c) {
  c.attention = attention_from_name(a.attention);
  c.attention_width = a.hidden;
  c.normalizer = normalizer_from_name(a.normalizer);
  c.temperature = a.temperature;
  if (a.temperature == 0.0) c.temperature = c.attention == AttentionKind::kCosine ? 0.1 : 1.0;
  c.window = a.window;
  if (a.window == 0) {
    if (c.normalizer == WeightsKind::kLocalP || c.normalizer == WeightsKind::kLocalM) c.window = 5;
    if (c.normalizer == WeightsKind::kMocha) c.window = 2;
  }
  c.heads = a.heads;
  c.projections = a.projections;
  c.weight_norm = a.weight_norm;
  c.straight_through = a.straight_through;
  if (c.attention == AttentionKind::kLocation) c.longest_source = longest;
}

std::vector<Pair> read_side(const TrainArguments& a, const PairInput& input, const char* name,
                            TrainObserver& observer) {
  CorpusOptions options;
  options.lenient = a.lenient;
  options.swap = a.swap;
  CorpusReport report;
  std::vector<Pair> pairs = read_pairs(input, options, &report);
  for (const std::string& note : report.notes) observer.note(std::string(name) + ": " + note);
  observer.note(std::string(name) + ": " + std::to_string(report.kept) + " pairs of " +
                std::to_string(report.rows) + " rows");
  return pairs;
}

}  // namespace

void add_training_options(CLI::App& command, TrainArguments& a) {
  add_data_options(command, a);
  add_model_options(command, a);
  add_run_options(command, a);
}

void split_help(CLI::App& c, std::span<const std::string_view> everyday) {
  std::vector<CLI::Option*> rare;
  for (CLI::Option* option : c.get_options()) {
    const bool shown = std::any_of(everyday.begin(), everyday.end(), [&](std::string_view e) {
      return option->check_name(std::string(e));
    });
    if (shown || option == c.get_help_ptr()) continue;
    option->group("");
    rare.push_back(option);
  }
  c.add_flag_callback(
      "--help-all",
      [rare] {
        for (CLI::Option* option : rare) option->group("More");
        throw CLI::CallForHelp();
      },
      "all options, the rare ones too");
}

Index TrainingData::longest_source() const {
  size_t longest = 0;
  for (const EncodedPairs* part : {&train, &dev}) {
    for (const auto& ids : part->source) longest = std::max(longest, ids.size() + 1);
  }
  return static_cast<Index>(longest);
}

TrainingData load_data(const TrainArguments& a, TrainObserver& observer) {
  std::vector<Pair> pairs = read_side(a, a.train, "train", observer);
  std::vector<Pair> dev_pairs;
  if (!a.dev.pairs.empty() || !a.dev.source.empty()) {
    dev_pairs = read_side(a, a.dev, "dev", observer);
  } else {
    dev_pairs = hold_out(pairs);
  }
  if (pairs.empty()) throw FormatError(FormatError::Kind::kData, "there is no pair to train on");

  VocabularyOptions vocabulary;
  vocabulary.source = parse_token_spec(a.source_tokens.empty() ? a.tokens : a.source_tokens);
  vocabulary.target = parse_token_spec(a.target_tokens.empty() ? a.tokens : a.target_tokens);
  vocabulary.joint = a.joint;
  vocabulary.limits = {a.min_count, a.vocabulary_size};
  TrainingData data;
  data.tokens = build_tokenizers(pairs, vocabulary);
  data.train = encode_pairs(std::move(pairs), data.tokens, a.max_source_length);
  data.dev = encode_pairs(std::move(dev_pairs), data.tokens, a.max_source_length);
  if (data.train.cut > 0) {
    observer.note(std::to_string(data.train.cut) + " sources are cut to " +
                  std::to_string(a.max_source_length) + " tokens");
  }
  return data;
}

DropoutRates dropout_rates(const TrainArguments& a) {
  const auto rate = [&](double site, const char* option) {
    const double r = site >= 0.0 ? site : a.dropout;
    if (!(r >= 0.0 && r < 1.0)) {
      throw ConfigError(std::string(option) + " takes a rate from 0 to below 1");
    }
    return static_cast<float>(r);
  };
  if (!(a.attention_dropout >= 0.0)) {
    throw ConfigError("--attention-dropout takes a rate from 0 to below 1");
  }
  return {rate(a.dropout_embedding, "--dropout-embedding"),
          rate(a.dropout_layer, "--dropout-layer"), rate(a.dropout_memory, "--dropout-memory"),
          rate(a.dropout_readout, "--dropout-readout"),
          rate(a.attention_dropout, "--attention-dropout")};
}

ModelConfig model_config(const TrainArguments& a, const TrainingData& data) {
  ModelConfig c;
  c.source_vocabulary = data.tokens.source.size();
  c.target_vocabulary = data.tokens.target.size();
  c.source_embedding = c.target_embedding = a.embedding;
  c.decoder_cell = cell_from_name(a.cell);
  c.decoder_layers = a.layers;
  c.hidden = a.hidden;
  choose_encoder(a, c);
  c.start = start_from_name(a.start);
  c.decoder = decoder_from_name(a.decoder);
  choose_attention(a, data.longest_source(), c);
  c.feed_context = a.feed_context;
  c.input_feeding = a.input_feeding && c.decoder == DecoderKind::kLuong;
  if (!a.tie.empty() && a.tie != "target" && a.tie != "all") {
    throw ConfigError("--tie takes target or all");
  }
  c.tie_target = a.tie == "target";
  c.tie_all = a.tie == "all";
  c.readout = a.readout > 0 ? a.readout : (a.tie.empty() ? a.hidden : a.embedding);
  if (c.tie_all && !a.joint)
    throw ConfigError("--tie all needs one vocabulary for both sides: give --joint");
  c.validate();
  return c;
}

std::string training_record(const TrainArguments& a, const TrainOptions& o,
                            const TrainingData& data) {
  const Tokenizers& tokens = data.tokens;
  nlohmann::ordered_json j = {{"pairs", data.train.size()},
                              {"dev_pairs", data.dev.size()},
                              {"swap", a.swap},
                              {"lenient", a.lenient},
                              {"source_tokens", to_string(tokens.source_spec)},
                              {"target_tokens", to_string(tokens.target_spec)},
                              {"joint", a.joint},
                              {"min_count", a.min_count},
                              {"vocab_size", a.vocabulary_size},
                              {"max_source_length", a.max_source_length},
                              {"epochs", o.epochs},
                              {"updates", o.updates},
                              {"patience", o.patience}};
  const bool subword =
      tokens.source.kind() == TokenKind::kSubword || tokens.target.kind() == TokenKind::kSubword;
  if (subword) j["sentencepiece"] = sentencepiece_version();
  for (const auto& [option, value] : bit_changing_options(o)) j[option.substr(2)] = value;
  return j.dump();
}

}  // namespace regard::cli
