// regard align: which source word each target word of given pairs belongs to.
#include <CLI/CLI.hpp>
#include <memory>

#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
#include "regard/cli/pair_lines.h"
#include "regard/text/links.h"
#include "regard/translate/record_json.h"
#include "regard/translate/translator.h"

namespace regard::cli {
namespace {

struct AlignArguments {
  CommonArguments common;
  PairArguments pairs;
  AlignOptions options;
  std::string format = "pharaoh";
};

std::string pharaoh(const Record& record) {
  std::vector<Link> links;
  for (const auto& [source, target] : record.links) {
    links.push_back({static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)});
  }
  return format_links(links);
}

void align(AlignArguments& a, Output& output) {
  const Translator translator(a.common.model);
  Threads threads(a.common.threads);
  for_pairs(
      {a.common, a.pairs, translator, output},
      [&](const std::vector<Pair>& pairs, Index first_line) {
        a.options.first_line = first_line;
        return translator.align(pairs, a.options, threads);
      },
      [&](const Record& r) { return a.format == "json" ? to_json(r) : pharaoh(r); });
}

}  // namespace

Run add_align(CLI::App& app) {
  auto a = std::make_unique<AlignArguments>();
  CLI::App* c =
      app.add_subcommand("align", "where the model looks in given pairs, as links or matrices");
  add_pairs(*c, a->pairs);
  add_common(*c, a->common);
  c->add_option("--format", a->format, "pharaoh: links 0-0 1-2, source-target; json: matrices too")
      ->check(CLI::IsMember({"pharaoh", "json"}))
      ->type_name("NAME")
      ->capture_default_str();
  c->add_flag("--pieces", a->options.pieces, "tokens of the model instead of words");
  c->add_flag(
      "--shift", a->options.shift,
      "read the weights a step later (bahdanau: two), at the first step that knows the token");
  add_max_source_length(*c, a->options.max_source_length);
  add_batch_tokens(*c, a->options.batch_tokens);
  return [a = std::move(a)] { return with_output([&](Output& output) { align(*a, output); }); };
}

}  // namespace regard::cli
