// The model file: what is saved comes back to the bit, and what does not fit is refused.
#include "regard/model/model.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/base/random.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/model/encoder_choices_test_util.h"
#include "regard/model/tensor_file.h"

namespace regard {
namespace {

class ModelFile : public ScratchFolder {
 protected:
  static Tokenizer tokens(TokenKind kind, const std::vector<std::string>& lines) {
    TokenCounts counts;
    for (const std::string& line : lines) count_tokens(line, kind, CleanupRule::kNfcSpaces, counts);
    return build_tokenizer(kind, counts, CleanupRule::kNfcSpaces);
  }
  static ModelConfig config(DecoderKind kind = DecoderKind::kLuong) {
    ModelConfig c;
    c.source_vocabulary = 3 + 4;
    c.target_vocabulary = 3 + 5;
    c.source_embedding = 5;
    c.target_embedding = 6;
    c.encoder_hidden = 4;
    c.hidden = 8;
    c.readout = 7;
    c.attention_width = 6;
    c.decoder = kind;
    c.input_feeding = kind == DecoderKind::kLuong;
    return c;
  }
  static std::unique_ptr<Model> make(const ModelConfig& c) {
    auto m = std::make_unique<Model>(c, tokens(TokenKind::kWord, {"a b c d"}),
                                     tokens(TokenKind::kChar, {"xyz \xC3\xA9"}));
    m->network.parameters().initialise(7);
    m->training_record = "{\"seed\":7}";
    Threads alone;
    m->network.parameters().pack(alone, false);
    return m;
  }
  static std::vector<float> forced(const Model& m) {
    const std::vector<std::int32_t> s = m.source_tokens.encode_ids("a d c"),
                                    t = m.target_tokens.encode_ids("yx y");
    const std::vector<std::span<const std::int32_t>> sources = {s, {}}, targets = {t, s};
    const PairBatch batch = PairBatch::pack(sources, targets);
    Tape tape(m.network.parameters(), nullptr);
    const auto out = m.network.forced(tape, batch, {}, 0.0f, false);
    return {out.loss.token_log_prob.begin(), out.loss.token_log_prob.end()};
  }
  // The file of a model after `change` of its parts, with hashes that are right.
  template <class Fn>
  std::string changed(const Fn& change) const {
    const std::string bytes =
        format_model(*make(config()), make(config())->network.parameters().data());
    TensorFile file = parse_tensor_file(as_bytes(bytes), "ours");
    change(file);
    return write("changed", format_tensor_file(file));
  }
  void expect_refusal(const std::string& path, const std::string& words) const {
    try {
      load_model(path);
      ADD_FAILURE() << "loaded; wanted: " << words;
    } catch (const FormatError& e) {
      EXPECT_EQ(e.kind(), FormatError::Kind::kModel);
      EXPECT_EQ(std::string(e.what()).find(path), 0u) << e.what();
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
};

TEST_F(ModelFile, ComesBackToTheBit) {
  std::vector<ModelConfig> configs = test::attention_choices(config(DecoderKind::kLuong), 5);
  for (const DecoderKind kind :
       {DecoderKind::kFixed, DecoderKind::kBahdanau, DecoderKind::kConditional}) {
    configs.push_back(config(kind));
    const std::vector<ModelConfig> more = test::encoder_choices(config(kind));
    configs.insert(configs.end(), more.begin(), more.end());
  }
  for (const ModelConfig& c : configs) {
    SCOPED_TRACE(to_json(c));
    const auto m = make(c);
    const std::string path = folder() + "/m.regard", again = folder() + "/again.regard";
    save_model(path, *m);
    const auto loaded = load_model(path);
    EXPECT_EQ(loaded->source_tokens, m->source_tokens);
    EXPECT_EQ(loaded->target_tokens, m->target_tokens);
    EXPECT_EQ(loaded->training_record, m->training_record);
    EXPECT_EQ(to_json(loaded->network.config()), to_json(m->network.config()));
    EXPECT_EQ(forced(*loaded), forced(*m));
    save_model(again, *loaded);
    EXPECT_EQ(read_file(path), read_file(again));
  }
}

TEST_F(ModelFile, TiedEmbeddingsAreStoredOnce) {
  ModelConfig c = config(DecoderKind::kBahdanau);
  c.tie_target = true;
  c.readout = c.target_embedding;
  const auto m = make(c);
  const std::string path = folder() + "/m.regard";
  save_model(path, *m);
  EXPECT_EQ(forced(*load_model(path)), forced(*m));
  const std::string bytes = read_file(path);
  const TensorFile file = parse_tensor_file(as_bytes(bytes), path);
  EXPECT_NE(file.find("target.embedding"), nullptr);
  EXPECT_EQ(file.find("output.weight"), nullptr);
}

TEST_F(ModelFile, TensorsAreReadableAndPlain) {
  const auto m = make(config());
  const std::string bytes = format_model(*m, m->network.parameters().data());
  const TensorFile file = parse_tensor_file(as_bytes(bytes), "m");
  EXPECT_EQ(file.metadata.at("format_version"), "1");
  EXPECT_EQ(file.metadata.at("training"), "{\"seed\":7}");
  EXPECT_EQ(file.find("source.embedding")->shape, (std::vector<Index>{7, 5}));
  EXPECT_EQ(file.find("output.bias")->shape, (std::vector<Index>{8}));
  EXPECT_NE(file.find("source.tokens.vocabulary"), nullptr);
  for (const ParameterInfo& p : m->network.parameters().infos()) {
    const TensorEntry* t = file.find(p.name);
    ASSERT_NE(t, nullptr) << p.name;
    EXPECT_EQ(
        std::memcmp(t->bytes.data(), m->network.parameters().data() + p.offset, t->bytes.size()),
        0);
  }
}

TEST_F(ModelFile, ANewerFormatNamesItsVersion) {
  const auto version = [&](const char* text) {
    return changed([&](TensorFile& f) { f.metadata["format_version"] = text; });
  };
  expect_refusal(version("2"), "format version 2; this regard reads up to 1");
  expect_refusal(version("0"), "format_version is '0'");
  expect_refusal(version("1.5"), "format_version is '1.5'");
  expect_refusal(version("99999999999"), "format_version");
  EXPECT_NO_THROW(load_model(version("1")));
}

TEST_F(ModelFile, APartThatIsMissingOrDoesNotFitIsNamed) {
  for (const char* key : {"format_version", "configuration", "training"}) {
    expect_refusal(changed([&](TensorFile& f) { f.metadata.erase(key); }),
                   std::string("'") + key + "' is missing");
  }
  expect_refusal(changed([](TensorFile& f) { f.metadata["configuration"] = "[]"; }),
                 "not a JSON object");
  const auto remove = [&](const std::string& name) {
    return changed([&](TensorFile& f) {
      std::erase_if(f.tensors, [&](const TensorEntry& t) { return t.name == name; });
    });
  };
  expect_refusal(remove("attention.v"), "tensor 'attention.v' is missing");
  expect_refusal(remove("source.tokens.vocabulary"), "source.tokens");
  expect_refusal(remove("target.tokens.tokenizer"), "target.tokens");
  expect_refusal(changed([](TensorFile& f) {
                   for (TensorEntry& t : f.tensors) {
                     if (t.name == "source.embedding") t.shape = {5, 7};
                   }
                 }),
                 "'source.embedding' is missing or has another shape");
  expect_refusal(changed([](TensorFile& f) {
                   for (TensorEntry& t : f.tensors) {
                     if (t.name == "source.embedding") t.type = TensorType::kU8, t.shape = {140};
                   }
                 }),
                 "'source.embedding'");
  // The vocabularies change places: another size than the configuration says.
  expect_refusal(changed([](TensorFile& f) {
                   for (TensorEntry& t : f.tensors) {
                     if (t.name.starts_with("source.tokens"))
                       t.name.replace(0, 6, "target");
                     else if (t.name.starts_with("target.tokens"))
                       t.name.replace(0, 6, "source");
                   }
                 }),
                 "vocabulary has");
}

TEST_F(ModelFile, AConfigurationThatTheFileCannotHoldIsRefused) {
  const auto with = [&](const char* from, const char* to) {
    return changed([&](TensorFile& f) {
      std::string& text = f.metadata["configuration"];
      ASSERT_NE(text.find(from), std::string::npos);
      text.replace(text.find(from), std::strlen(from), to);
    });
  };
  expect_refusal(with("\"hidden\":8", "\"hidden\":9"), "another shape");
  // Would need hundreds of gigabytes.
  expect_refusal(with("\"hidden\":8", "\"hidden\":16777216"), "more than");
  expect_refusal(with("\"hidden\":8", "\"hidden\":16777217"), "'hidden' is 16777217");
  expect_refusal(with("\"hidden\":8", "\"hidden\":-8"), "'hidden' is -8");
  expect_refusal(with("\"hidden\":8", "\"hidden\":\"8\""), "wrong type");
  expect_refusal(with("\"encoder_layers\":1", "\"encoder_layers\":17"), "--layers");
  expect_refusal(with("\"additive\"", "\"multiplicative\""), "choose one of");
  expect_refusal(with("\"luong\"", "\"fixed\""), "--input-feeding");
  expect_refusal(with("\"start\"", "\"begin\""), "'start' is missing");
}

TEST_F(ModelFile, DamageIsFoundAtLoading) {
  const auto m = make(config());
  const std::string bytes = format_model(*m, m->network.parameters().data());
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::string damaged = bytes;
    const std::uint64_t bit = random_below(3, i, bytes.size() * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(load_model(write("damaged", damaged)), FormatError) << bit;
    EXPECT_THROW(load_model(write("cut", bytes.substr(0, random_below(4, i, bytes.size())))),
                 FormatError);
  }
}

TEST_F(ModelFile, WhatIsNoFileOfOursIsSaid) {
  expect_refusal(write("empty", ""), "this is no regard model: it has 0 bytes");
  expect_refusal(write("text", "eat\tmanger\n"), "this is no regard model");
  EXPECT_THROW(load_model(folder()), std::system_error);
  EXPECT_THROW(load_model(folder() + "/absent"), std::system_error);
}

TEST_F(ModelFile, AnUnreadableFileSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const std::string path = write("secret", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_THROW(load_model(path), std::system_error);
}

TEST_F(ModelFile, SavingWhereNothingCanBeWrittenSaysSo) {
  EXPECT_THROW(save_model(folder() + "/absent/m", *make(config())), std::system_error);
}

}  // namespace
}  // namespace regard
