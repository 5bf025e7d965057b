#include "regard/cli/pair_lines.h"

#include "regard/cli/chunks.h"
#include "regard/cli/line_report.h"

namespace regard::cli {

void for_pairs(const PairCommand& command,
               const std::function<std::vector<Record>(const std::vector<Pair>&, Index)>& work,
               const std::function<std::string(const Record&)>& print) {
  work({}, 1);
  const Tokenizer& tokens = command.translator.model().source_tokens;
  PairReader reader = open_pairs(command.pairs, tokens.cleanup_rule());
  LineReport report(command.common.quiet, plain_file_bytes(command.pairs.input.pairs),
                    tokens.kind());
  const bool files = reads_files_alone(command.pairs);
  Chunks<Pair> chunks([&](Pair& pair) { return reader.next(pair); },
                      [&] { return files || reader.has_row() || standard_input_ready(); });
  Index first_line = 1;
  for (std::vector<Pair> pairs; chunks.read(pairs);) {
    for (const Record& record : work(pairs, first_line)) {
      command.output.line(print(record));
      report.add({record});
    }
    command.output.flush();
    first_line += static_cast<Index>(pairs.size());
    for (const Pair& p : pairs) report.add_bytes(p.source.size() + p.target.size() + 2);
    report.draw();
  }
  for (const std::string& note : reader.report().notes) report.note(note);
  report.finish();
}

}  // namespace regard::cli
