#include "regard/cli/compare_entry.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "regard/cli/line_report.h"
#include "regard/cli/table.h"
#include "regard/eval/evaluate.h"
#include "regard/view/format.h"

namespace regard::cli {
namespace {

using Value = std::function<double(const TrialFigures&)>;

struct Mean {
  double value = 0.0;
  double deviation = 0.0;  // of a sample; 0 for one run
};

Mean mean_of(const std::vector<TrialFigures>& runs, const Value& value) {
  Mean m;
  const auto n = static_cast<double>(runs.size());
  for (const TrialFigures& run : runs) m.value += value(run) / n;
  for (const TrialFigures& run : runs) {
    m.deviation += (value(run) - m.value) * (value(run) - m.value);
  }
  m.deviation = n > 1.0 ? std::sqrt(m.deviation / (n - 1.0)) : 0.0;
  return m;
}

// The columns of numbers, each declared once for table and JSON.
struct Measure {
  std::string title, key;
  Best best;
  int decimals;
  bool with_deviation;
  Value value;
};

std::vector<Measure> quality_measures(const std::string& metric) {
  const Best best = eval::higher_is_better(metric) ? Best::kMost : Best::kLeast;
  return {{"dev loss", "dev_loss", Best::kLeast, 4, true,
           [](const TrialFigures& f) { return f.dev_loss; }},
          {metric, metric, best, 2, true, [](const TrialFigures& f) { return f.metric; }}};
}

std::vector<Measure> speed_measures() {
  return {{"train tokens/s", "training_tokens_per_second", Best::kMost, 0, false,
           [](const TrialFigures& f) { return f.training_tokens_per_second; }},
          {"decode lines/s", "decoding_sentences_per_second", Best::kMost, 0, false,
           [](const TrialFigures& f) { return f.decoding_sentences_per_second; }}};
}

std::vector<Measure> row_measures() {
  return {{"entropy at start", "entropy_untrained", Best::kNone, 3, true,
           [](const TrialFigures& f) { return f.untrained.entropy; }},
          {"at end", "entropy_trained", Best::kNone, 3, true,
           [](const TrialFigures& f) { return f.trained.entropy; }},
          {"log S", "log_source_length", Best::kNone, 3, false,
           [](const TrialFigures& f) { return f.trained.log_source_length; }},
          {"largest at start", "largest_untrained", Best::kNone, 3, true,
           [](const TrialFigures& f) { return f.untrained.largest; }},
          {"at end", "largest_trained", Best::kNone, 3, true,
           [](const TrialFigures& f) { return f.trained.largest; }}};
}

Column column_of(const Measure& m) { return {m.title, m.best, false}; }

Cell cell_of(const Measure& m, const CompareEntry& entry) {
  const Mean mean = mean_of(entry.runs, m.value);
  std::string text = figure(mean.value, m.decimals);
  if (m.with_deviation && entry.runs.size() > 1) {
    text += " \u00b1" + figure(mean.deviation, m.decimals);
  }
  return {text, mean.value, std::isfinite(mean.value)};
}

Cell name_cell(const std::string& text) { return {text, 0.0, false}; }

Cell count_cell(Index n, bool counts) {
  return {counts ? count_text(static_cast<std::uint64_t>(n)) : "-", static_cast<double>(n), counts};
}

std::string legend(bool mark) { return mark ? "* the best of its column\n" : ""; }

bool in(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string entry_name(const CompareEntry& entry) {
  if (entry.width > 0) return entry.score + " width " + std::to_string(entry.width);
  return entry.normalizer.empty() ? entry.score : entry.score + " " + entry.normalizer;
}

bool compares_states(const CompareEntry& entry) {
  return in(entry.score, {"dot", "scaled-dot", "cosine"});
}

Index fitting_encoder_width(const TrainArguments& a) {
  if (a.unidirectional || a.encoder == name(EncoderKind::kSelfAttention)) return a.hidden;
  return a.hidden % 2 == 0 ? a.hidden / 2 : 0;
}

TrainArguments entry_arguments(const TrainArguments& a, const CompareEntry& entry) {
  TrainArguments t = a;
  if (entry.width > 0) {
    t.hidden = entry.width;
    if (!t.projections) t.encoder_hidden = fitting_encoder_width(t);
  }
  if (entry.score == kNoAttention) {
    const TrainArguments plain;
    t.decoder = name(DecoderKind::kFixed);
    t.normalizer = plain.normalizer;
    t.window = plain.window;
    t.heads = plain.heads;
    t.projections = t.weight_norm = t.straight_through = false;
    t.coverage_loss = 0.0;
    return t;
  }
  t.attention = entry.score;
  t.normalizer = entry.normalizer;
  t.feed_context = false;
  if (!in(t.normalizer, {"mocha", "local-p", "local-m"})) t.window = 0;
  if (t.normalizer != "hardmax") t.straight_through = false;
  if (!in(t.attention, {"additive", "concat", "location-sensitive", "coverage"})) {
    t.weight_norm = false;
  }
  if (t.attention != "coverage") t.coverage_loss = 0.0;
  return t;
}

std::string figure(double value, int decimals) { return fixed_number(value, decimals); }

bool terminal_output() { return isatty(STDOUT_FILENO) == 1; }

std::string score_table(const std::vector<CompareEntry>& entries, const std::string& metric,
                        bool mark) {
  std::vector<Measure> quality = quality_measures(metric), speed = speed_measures();
  std::vector<Column> columns = {{"attention", Best::kNone, true},
                                 {"normaliser", Best::kNone, true}};
  for (const Measure& m : quality) columns.push_back(column_of(m));
  columns.push_back({"of attention", Best::kLeast, false});
  columns.push_back({"parameters", Best::kLeast, false});
  for (const Measure& m : speed) columns.push_back(column_of(m));
  std::vector<Row> rows;
  for (const CompareEntry& e : entries) {
    Row row;
    row.cells = {name_cell(e.score), name_cell(e.normalizer.empty() ? "-" : e.normalizer)};
    if (e.runs.empty()) {
      row.note = "refused: " + e.refusal;
      rows.push_back(row);
      continue;
    }
    for (const Measure& m : quality) row.cells.push_back(cell_of(m, e));
    row.cells.push_back(count_cell(e.attention_parameters, e.score != kNoAttention));
    row.cells.push_back(count_cell(e.parameters, true));
    for (const Measure& m : speed) row.cells.push_back(cell_of(m, e));
    rows.push_back(row);
  }
  return format_table(columns, rows, mark) + legend(mark);
}

std::string width_table(const std::vector<CompareEntry>& entries, const std::string& metric,
                        bool mark) {
  const std::vector<Measure> quality = quality_measures(metric), looks = row_measures();
  std::vector<Column> columns = {{"attention", Best::kNone, true}, {"width", Best::kNone, false}};
  for (const Measure& m : looks) columns.push_back(column_of(m));
  for (const Measure& m : quality) columns.push_back(column_of(m));
  std::vector<Row> rows;
  for (const CompareEntry& e : entries) {
    Row row;
    row.cells = {name_cell(e.score), name_cell(std::to_string(e.width))};
    if (e.runs.empty()) row.note = "refused: " + e.refusal;
    for (const std::vector<Measure>* part : {&looks, &quality}) {
      for (const Measure& m : *part) {
        if (!e.runs.empty()) row.cells.push_back(cell_of(m, e));
      }
    }
    rows.push_back(row);
  }
  return format_table(columns, rows, mark) + legend(mark);
}

std::string entry_json(const CompareEntry& e, const std::string& metric) {
  nlohmann::ordered_json j;
  j["attention"] = e.score;
  j["normalizer"] = nullptr;
  if (!e.normalizer.empty()) j["normalizer"] = e.normalizer;
  if (e.width > 0) j["width"] = e.width;
  if (e.runs.empty()) {
    j["refused"] = e.refusal;
    return j.dump();
  }
  j["encoder_hidden"] = e.encoder_hidden;
  j["seeds"] = e.runs.size();
  j["updates"] = e.runs[0].updates;
  std::vector<Measure> measures = quality_measures(metric);
  for (Measure& m : speed_measures()) measures.push_back(std::move(m));
  if (e.width > 0) {
    for (Measure& m : row_measures()) measures.push_back(std::move(m));
  }
  for (const Measure& m : measures) {
    const Mean mean = mean_of(e.runs, m.value);
    j[m.key] = mean.value;
    if (m.with_deviation && e.runs.size() > 1) j[m.key + "_deviation"] = mean.deviation;
  }
  j["attention_parameters"] = e.attention_parameters;
  j["parameters"] = e.parameters;
  return j.dump();
}

}  // namespace regard::cli
