#include "regard/view/labels.h"

#include <algorithm>

#include "regard/view/cells.h"

namespace regard {
namespace {

bool is_blank_alone(const std::string& text) {
  return !text.empty() && text.find_first_not_of(' ') == std::string::npos;
}

bool begins_word(const RecordToken& token) {
  return token.text.size() > 1 && token.text[0] == ' ' && !is_blank_alone(token.text);
}

}  // namespace

bool is_end_marker(const RecordToken& token) {
  return token.begin == token.end && token.text == "</s>";
}

std::vector<std::string> token_labels(const std::vector<RecordToken>& tokens, bool ascii) {
  const bool hyphens = std::count_if(tokens.begin(), tokens.end(), begins_word) >= 2;
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  bool continues = false;  // does the token before leave a word open?
  for (const RecordToken& token : tokens) {
    if (is_end_marker(token)) {
      labels.emplace_back("(end)");
      continues = false;
    } else if (is_blank_alone(token.text)) {
      labels.emplace_back(ascii ? "_" : "\u2423");
      continues = false;
    } else if (begins_word(token)) {
      labels.push_back(visible_text(token.text.substr(1)));
      continues = true;
    } else {
      labels.push_back((hyphens && continues ? "-" : "") + visible_text(token.text));
      continues = true;
    }
  }
  return labels;
}

}  // namespace regard
