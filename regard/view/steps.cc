#include "regard/view/steps.h"

#include <algorithm>
#include <numeric>

#include "regard/base/error.h"
#include "regard/view/cells.h"
#include "regard/view/format.h"
#include "regard/view/labels.h"
#include "regard/view/picture.h"
#include "regard/view/terminal_style.h"

namespace regard {
namespace {

constexpr std::string_view kMargin = "  ";
constexpr int kName = 13;    // columns of the names at the left, "2 normalise"
constexpr int kNumber = 14;  // columns of a number
constexpr int kWidestBar = 32;
constexpr int kLeastStepsWidth = 64;

std::string percent_text(double weight) { return fixed_number(weight * 100.0, 1) + " %"; }

// A table line. A right-to-left label stands at the end, where terminals keep the order of what
// comes before it.
struct Line {
  std::string name;  // of the stage, on its first line
  std::string label;
  std::string score;
  std::string weight;
  int percent = 0;
};

class StepsText {
 public:
  StepsText(const Record& record, const StepsOptions& options)
      : options_(options),
        width_(std::max(options.terminal.width, kLeastStepsWidth)),
        style_(options.terminal.color, options.terminal.ascii),
        sources_(token_labels(record.source_tokens, options.terminal.ascii)),
        targets_(token_labels(record.target_tokens, options.terminal.ascii)) {}

  std::string draw(const std::vector<StepDetail>& steps) {
    explain(std::all_of(steps.begin(), steps.end(),
                        [](const StepDetail& step) { return step.weights.empty(); }));
    measure(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) step(steps[i], i);
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(kMargin) + text + '\n'; }

  void paragraph(std::string_view text) {
    for (const std::string& part : wrap_text(text, width_ - 2)) line(style_.faint(part));
  }

  void stage(std::string_view name, const std::string& formula, std::string_view meaning) {
    for (const std::string& part : wrap_text(formula, width_ - 2 - kName)) {
      line(style_.bold(pad_right(name, kName)) + part);
      name = "";
    }
    for (const std::string& part : wrap_text(meaning, width_ - 2 - kName)) {
      line(pad_right("", kName) + style_.faint(part));
    }
  }

  void explain(bool fixed) {
    if (fixed) {
      paragraph(kNoAttention);
      out_ += '\n';
      stage("context", "c", "the same vector for every word");
    } else {
      paragraph("For each word i that it writes, the model looks at every source position j:");
      out_ += '\n';
      stage("1 score", "e_ij = " + options_.score_formula,
            "how well does position j fit what is to be written next?");
      stage("2 normalise", "a_ij = " + options_.normalizer_formula,
            "scores become weights: how much of the look goes to each position");
      stage("3 combine", "c_i = " + options_.context_formula,
            "the context: the source states, mixed by these weights");
    }
    stage("next word", "p(y_i)", "made of the context and what was written so far");
  }

  // One width of labels for the whole text, so that bars stand below each other.
  void measure(const std::vector<StepDetail>& steps) {
    std::vector<std::string> labels = sources_;
    for (const StepDetail& step : steps) {
      for (const auto& next : step.top) labels.push_back(next_label(next.first));
    }
    for (const std::string& label : labels) {
      label_width_ = std::max(label_width_, display_width(label));
      labels_right_ = labels_right_ || has_right_to_left(label);
    }
    label_width_ = std::min(label_width_, width_ / 4);
    const int room = width_ - 2 - kName - label_width_ - 2 * kNumber - 4;
    bar_width_ = room < 4 ? 0 : std::min(room, kWidestBar);
  }

  // Lists of the model name its end marker as records do, with no place in the text.
  std::string next_label(const std::string& text) const {
    return token_labels({RecordToken{text, 0, 0}}, options_.terminal.ascii)[0];
  }

  void table_line(const Line& each) {
    const std::string label =
        clip(each.label, label_width_, options_.terminal.ascii ? "~" : "\u2026");
    const std::string numbers = pad_left(each.score, kNumber) + pad_left(each.weight, kNumber);
    const std::string bar = bar_width_ > 0 ? style_.bar(each.percent, bar_width_) : "";
    std::string text = pad_right(each.name, kName);
    text += labels_right_ ? numbers + "  " + bar + "  " + label
                          : pad_left(label, label_width_) + numbers + "  " + bar;
    text.erase(text.find_last_not_of(' ') + 1);
    line(text);
  }

  // The positions to list, in source order: those of the largest weights.
  std::vector<std::size_t> chosen(const std::vector<float>& weights) const {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() <= options_.most_positions) return order;
    std::stable_sort(order.begin(), order.end(), [&weights](std::size_t a, std::size_t b) {
      return percent_of(weights[a]) != percent_of(weights[b])
                 ? percent_of(weights[a]) > percent_of(weights[b])
                 : a < b;
    });
    order.resize(options_.most_positions);
    std::sort(order.begin(), order.end());
    return order;
  }

  void attention(const StepDetail& step, const std::string& row) {
    const int before = kName + (labels_right_ ? 0 : label_width_);
    line(pad_right("", before) + style_.faint(pad_left("score e_" + row + "j", kNumber) +
                                              pad_left("weight a_" + row + "j", kNumber)));
    double others = std::accumulate(step.weights.begin(), step.weights.end(), 0.0);
    const std::vector<std::size_t> listed = chosen(step.weights);
    std::string_view name = "looks at";
    for (const std::size_t j : listed) {
      table_line({std::string(name), sources_[j],
                  step.scores.empty() ? "" : fixed_number(step.scores[j], 2),
                  percent_text(step.weights[j]), std::max(percent_of(step.weights[j]), 0)});
      others -= step.weights[j];
      name = "";
    }
    if (listed.size() < step.weights.size()) {
      line(pad_right("", kName) +
           style_.faint("and " + std::to_string(step.weights.size() - listed.size()) +
                        " other positions, together " + percent_text(others)));
    }
  }

  void step(const StepDetail& step, std::size_t i) {
    const std::string row = std::to_string(i + 1);
    out_ += '\n';
    const std::string title = "Word " + row + " of " + std::to_string(targets_.size()) + ": ";
    line(style_.bold(title + clip(targets_[i], width_ - 2 - display_width(title),
                                  options_.terminal.ascii ? "~" : "\u2026")));
    if (!step.weights.empty()) attention(step, row);
    line(pad_right("context", kName) + "length of c" + (step.weights.empty() ? "" : "_" + row) +
         ": " + fixed_number(step.context_norm, 2));
    std::string_view name = "next word";
    for (const auto& [text, probability] : step.top) {
      table_line({std::string(name), next_label(text), "", percent_text(probability),
                  std::max(percent_of(probability), 0)});
      name = "";
    }
  }

  const StepsOptions& options_;
  int width_;
  TerminalStyle style_;
  std::vector<std::string> sources_;
  std::vector<std::string> targets_;
  int label_width_ = 0;
  int bar_width_ = 0;
  bool labels_right_ = false;
  std::string out_;
};

void require_steps(const Record& record, const std::vector<StepDetail>& steps) {
  if (steps.size() != record.target_tokens.size()) {
    throw ShapeError("render_steps: " + std::to_string(steps.size()) +
                     " steps, wanted one a target token, " +
                     std::to_string(record.target_tokens.size()));
  }
  const std::size_t sources = record.source_tokens.size();
  for (const StepDetail& step : steps) {
    for (const auto* list : {&step.scores, &step.weights}) {
      if (!list->empty() && list->size() != sources) {
        throw ShapeError("render_steps: " + std::to_string(list->size()) +
                         " scores or weights in a step, wanted one a source token, " +
                         std::to_string(sources));
      }
    }
  }
}

}  // namespace

std::string render_steps(const Record& record, const std::vector<StepDetail>& steps,
                         const StepsOptions& options) {
  if (record.blank) return std::string(kMargin) + std::string(kBlankLine) + '\n';
  require_steps(record, steps);
  return StepsText(record, options).draw(steps);
}

}  // namespace regard
