#include "regard/search/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "regard/base/error.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/text/vocabulary.h"

namespace regard {
namespace {

using Ids = std::vector<std::int32_t>;

const std::vector<Ids> kSources = {{3, 4}, {5, 6, 7, 3, 4, 4, 3}, {8}, {4, 4, 9}, {3, 4}};

ModelConfig small(DecoderKind decoder) {
  ModelConfig c;
  c.source_vocabulary = 10;
  c.target_vocabulary = 6;  // three text tokens
  c.source_embedding = 5;
  c.target_embedding = 6;
  c.encoder_hidden = 4;
  c.hidden = 8;
  c.readout = 7;
  c.attention_width = 6;
  c.decoder = decoder;
  c.input_feeding = decoder == DecoderKind::kLuong;
  return c;
}

// Start values made larger, so that the model has opinions.
std::unique_ptr<Seq2seq> make_network(const ModelConfig& config, float scale = 4.0F) {
  auto network = std::make_unique<Seq2seq>(config);
  network->parameters().initialise(5);
  Parameters& p = network->parameters();
  for (Index i = 0; i < p.size(); ++i) p.data()[i] *= scale;
  Threads alone;
  p.pack(alone, false);
  return network;
}

std::unique_ptr<Seq2seq> make_network(DecoderKind decoder, float scale = 4.0F) {
  return make_network(small(decoder), scale);
}

std::vector<SearchSentence> sentences(const std::vector<Ids>& sources, Index max_length) {
  std::vector<SearchSentence> out;
  for (const Ids& s : sources) out.push_back({s, max_length});
  return out;
}

std::vector<float> forced_log_probs(const Seq2seq& network, const Ids& source, const Ids& target) {
  const std::vector<std::span<const std::int32_t>> s = {source}, t = {target};
  Tape tape(network.parameters(), nullptr);
  const auto out = network.forced(tape, PairBatch::pack(s, t), {}, 0.0F, false);
  return {out.loss.token_log_prob.begin(), out.loss.token_log_prob.end()};
}

double sum(const std::vector<float>& values) {
  double total = 0.0;
  for (const float x : values) total += static_cast<double>(x);
  return total;
}

void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].ids, b[i].ids);
    EXPECT_EQ(a[i].token_log_probs, b[i].token_log_probs);
    EXPECT_EQ(a[i].log_prob, b[i].log_prob);
    EXPECT_EQ(a[i].score, b[i].score);
    EXPECT_EQ(a[i].weights, b[i].weights);
    EXPECT_EQ(a[i].best_column, b[i].best_column);
    EXPECT_EQ(a[i].ended, b[i].ended);
  }
}

struct Scored {
  Ids ids;  // end included
  double score;
};

// Every string of text tokens of 1 to `longest`, best first.
std::vector<Scored> brute_force(const Seq2seq& network, const Ids& source, size_t longest,
                                const SearchOptions& options) {
  std::vector<Scored> all;
  std::vector<Ids> front = {{}};
  for (size_t length = 1; length <= longest; ++length) {
    std::vector<Ids> next;
    for (const Ids& prefix : front) {
      for (std::int32_t id = kFirstTextId; id < 6; ++id) {
        next.push_back(prefix);
        next.back().push_back(id);
        const double log_prob = sum(forced_log_probs(network, source, next.back()));
        Scored s{next.back(), 0.0};
        s.ids.push_back(kEndId);
        s.score = log_prob / length_penalty(options.formula, options.penalty,
                                            static_cast<Index>(s.ids.size()));
        all.push_back(s);
      }
    }
    front = next;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return all;
}

class EveryDecoder : public ::testing::TestWithParam<DecoderKind> {};
INSTANTIATE_TEST_SUITE_P(BeamSearch, EveryDecoder,
                         ::testing::Values(DecoderKind::kFixed, DecoderKind::kBahdanau,
                                           DecoderKind::kConditional, DecoderKind::kLuong));

TEST_P(EveryDecoder, ABeamAsLargeAsTheSearchSpaceFindsWhatBruteForceFinds) {
  const auto network = make_network(GetParam());
  for (const double penalty : {1.0, 0.0, -0.5}) {
    SearchOptions options;
    options.beam = 1000;
    options.nbest = 3 + 9 + 27 + 81;
    options.penalty = penalty;
    options.bar_unknown = true;
    const auto wanted = brute_force(*network, kSources[1], 4, options);
    const auto found = beam_search(*network, sentences({kSources[1]}, 4), options)[0];
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].score, wanted[i].score) << "rank " << i;
      EXPECT_EQ(found[i].ids, wanted[i].ids) << "rank " << i;
      EXPECT_TRUE(found[i].ended);
    }
    options.nbest = 1;  // may stop early, and must not lose the best one
    expect_same(beam_search(*network, sentences({kSources[1]}, 4), options)[0], {found[0]});
  }
}

// The likeliest token at each step, by forced decoding of what was said so far.
void expect_greedy(const Seq2seq& network) {
  SearchOptions options;
  options.beam = 1;
  for (const Ids& source : kSources) {
    const Hypothesis found = beam_search(network, sentences({source}, 12), options)[0][0];
    Ids prefix;
    for (size_t t = 0; t < found.ids.size(); ++t) {
      std::int32_t best = -1;
      float best_log_prob = 0.0F;
      for (std::int32_t id = kEndId; id < 6; ++id) {
        if (id == kEndId && t == 0) continue;  // min_length 1
        Ids target = prefix;
        if (id != kEndId) target.push_back(id);
        const float log_prob = forced_log_probs(network, source, target)[t];
        if (best < 0 || log_prob > best_log_prob) {
          best = id;
          best_log_prob = log_prob;
        }
      }
      ASSERT_EQ(found.ids[t], best) << "token " << t;
      EXPECT_EQ(found.token_log_probs[t], best_log_prob);
      prefix.push_back(best);
    }
    EXPECT_EQ(found.ended, found.ids.back() == kEndId);
  }
}

TEST_P(EveryDecoder, ABeamOfOneIsGreedy) { expect_greedy(*make_network(GetParam())); }

void expect_alone_as_in_a_batch(const Seq2seq& network) {
  SearchOptions options;
  options.beam = 4;
  options.nbest = 4;
  options.with_weights = true;
  const auto together = beam_search(network, sentences(kSources, 9), options);
  ASSERT_EQ(together.size(), kSources.size());
  for (size_t i = 0; i < kSources.size(); ++i) {
    expect_same(together[i], beam_search(network, sentences({kSources[i]}, 9), options)[0]);
  }
}

TEST_P(EveryDecoder, ABatchGivesTheBitsOfItsSentencesOneByOne) {
  expect_alone_as_in_a_batch(*make_network(GetParam()));
}

void expect_log_probs_of_forced_decoding(const Seq2seq& network) {
  SearchOptions options;
  options.nbest = 5;
  const auto found = beam_search(network, sentences({kSources[1]}, 20), options)[0];
  for (const Hypothesis& h : found) {
    const Ids target(h.ids.begin(), h.ids.end() - (h.ended ? 1 : 0));
    std::vector<float> forced = forced_log_probs(network, kSources[1], target);
    forced.resize(h.ids.size());  // without the end, where the hypothesis was cut
    EXPECT_EQ(h.token_log_probs, forced);
    EXPECT_EQ(h.log_prob, sum(h.token_log_probs));
    EXPECT_EQ(h.score, h.log_prob / static_cast<double>(h.ids.size()));
  }
}

TEST_P(EveryDecoder, LogProbabilitiesAreThoseOfForcedDecoding) {
  expect_log_probs_of_forced_decoding(*make_network(GetParam()));
}

// States of attention follow their hypotheses when beams reorder, each beside its neighbours.
TEST(BeamSearch, EveryAttentionKeepsItsBitsInBatchesBeamsAndForcedDecoding) {
  for (const DecoderKind decoder : {DecoderKind::kLuong, DecoderKind::kBahdanau}) {
    ModelConfig base = small(decoder);
    for (const bool feeding : {true, false}) {
      if (feeding && decoder != DecoderKind::kLuong) continue;
      base.input_feeding = feeding;
      for (const ModelConfig& c : test::attention_choices(base, 8)) {
        SCOPED_TRACE(to_json(c));
        const auto network = make_network(c);
        expect_greedy(*network);
        expect_alone_as_in_a_batch(*network);
        expect_log_probs_of_forced_decoding(*network);
      }
    }
  }
}

TEST(BeamSearch, WeightsAreARowATokenAndSumToOne) {
  const auto network = make_network(DecoderKind::kLuong);
  SearchOptions options;
  options.with_weights = true;
  const Ids& source = kSources[1];
  const Hypothesis h = beam_search(*network, sentences({source}, 9), options)[0][0];
  const size_t columns = source.size() + 1;
  ASSERT_EQ(h.weights.size(), h.ids.size() * columns);
  for (size_t i = 0; i < h.ids.size(); ++i) {
    const float* row = h.weights.data() + i * columns;
    double total = 0.0;
    for (size_t j = 0; j < columns; ++j) total += row[j];
    EXPECT_NEAR(total, 1.0, 1e-5);
    EXPECT_EQ(h.best_column[i], std::max_element(row, row + source.size()) - row);
  }
}

TEST(BeamSearch, WithoutAttentionThereAreNoWeights) {
  const auto network = make_network(DecoderKind::kFixed);
  SearchOptions options;
  options.with_weights = true;
  const Hypothesis h = beam_search(*network, sentences({kSources[0]}, 9), options)[0][0];
  EXPECT_TRUE(h.weights.empty());
  EXPECT_EQ(h.best_column, std::vector<Index>(h.ids.size(), -1));
}

// All parameters zero: every token is as likely as every other, at every step.
TEST(BeamSearch, TiesGoToTheLowerHypothesisThenTheLowerId) {
  const auto network = make_network(DecoderKind::kLuong, 0.0F);
  SearchOptions options;
  options.beam = 2;
  options.nbest = 2;
  options.penalty = 0.0;
  options.bar_unknown = true;
  const auto found = beam_search(*network, sentences({kSources[0]}, 9), options)[0];
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].ids, (Ids{3, kEndId}));
  EXPECT_EQ(found[1].ids, (Ids{3, 3, kEndId}));
}

TEST(BeamSearch, MinimumLengthIsCountedWithoutTheEnd) {
  const auto network = make_network(DecoderKind::kLuong, 0.0F);
  SearchOptions options;
  options.beam = 1;
  options.bar_unknown = true;
  options.min_length = 3;
  EXPECT_EQ(beam_search(*network, sentences({kSources[0]}, 9), options)[0][0].ids,
            (Ids{3, 3, 3, kEndId}));
  options.min_length = 0;
  EXPECT_EQ(beam_search(*network, sentences({kSources[0]}, 9), options)[0][0].ids, (Ids{kEndId}));
}

TEST(BeamSearch, AtTheLimitAHypothesisMayEndButNotGoOn) {
  auto network = make_network(DecoderKind::kLuong, 0.0F);
  SearchOptions options;
  options.beam = 1;
  options.bar_unknown = true;
  options.min_length = 2;
  const Hypothesis ended = beam_search(*network, sentences({kSources[0]}, 2), options)[0][0];
  EXPECT_EQ(ended.ids, (Ids{3, 3, kEndId}));
  EXPECT_TRUE(ended.ended);

  // Token 4 is likelier than the end.
  const ParameterId bias = network->parameters().find("output.bias");
  network->parameters().value(bias)(0, 4) = 1.0F;
  const Hypothesis cut = beam_search(*network, sentences({kSources[0]}, 2), options)[0][0];
  EXPECT_EQ(cut.ids, (Ids{4, 4}));
  EXPECT_FALSE(cut.ended);
  EXPECT_EQ(cut.score, cut.log_prob / 2.0);
}

TEST(BeamSearch, UnknownCanBeBarred) {
  const auto network = make_network(DecoderKind::kLuong);
  const ParameterId bias = network->parameters().find("output.bias");
  network->parameters().value(bias)(0, kUnknownId) = 50.0F;
  SearchOptions options;
  EXPECT_EQ(beam_search(*network, sentences({kSources[0]}, 4), options)[0][0].ids[0], kUnknownId);
  options.bar_unknown = true;
  const Hypothesis without = beam_search(*network, sentences({kSources[0]}, 4), options)[0][0];
  for (const std::int32_t id : without.ids) {
    EXPECT_NE(id, kUnknownId);
  }
}

TEST(BeamSearch, AListHoldsNoMoreThanThereIsToSay) {
  const auto network = make_network(DecoderKind::kLuong);
  SearchOptions options;
  options.beam = options.nbest = 1000;
  options.bar_unknown = true;
  const auto found = beam_search(*network, sentences({kSources[0]}, 1), options)[0];
  EXPECT_EQ(found.size(), 3U);  // three tokens, each with its end
  for (const Hypothesis& h : found) EXPECT_TRUE(h.ended);
}

TEST(BeamSearch, WhatIsNoNumberIsNoHypothesis) {
  const auto network = make_network(DecoderKind::kLuong);
  const ParameterId bias = network->parameters().find("output.bias");
  network->parameters().value(bias)(0, 3) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(beam_search(*network, sentences({kSources[0]}, 4), {})[0].empty());
}

TEST(BeamSearch, NoSentencesGiveNoLists) {
  EXPECT_TRUE(beam_search(*make_network(DecoderKind::kLuong), {}, {}).empty());
}

TEST(BeamSearch, RefusesABeamThatCanNotHoldTheList) {
  const auto network = make_network(DecoderKind::kLuong);
  SearchOptions options;
  options.beam = 0;
  EXPECT_THROW(beam_search(*network, sentences({kSources[0]}, 4), options), ConfigError);
  options.beam = 2;
  options.nbest = 3;
  EXPECT_THROW(beam_search(*network, sentences({kSources[0]}, 4), options), ConfigError);
  options.nbest = 0;
  EXPECT_THROW(beam_search(*network, sentences({kSources[0]}, 4), options), ConfigError);
}

TEST(LengthPenalty, FollowsItsFormula) {
  EXPECT_EQ(length_penalty(LengthFormula::kPower, 1.0, 7), 7.0);
  EXPECT_EQ(length_penalty(LengthFormula::kPower, 0.0, 7), 1.0);
  EXPECT_NEAR(length_penalty(LengthFormula::kPower, 0.6, 7), std::pow(7.0, 0.6), 1e-12);
  EXPECT_NEAR(length_penalty(LengthFormula::kGnmt, 0.6, 7), std::pow(2.0, 0.6), 1e-12);
}

}  // namespace
}  // namespace regard
