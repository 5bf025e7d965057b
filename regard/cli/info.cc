// regard info: what a model file holds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "regard/cli/command.h"
#include "regard/cli/line_report.h"
#include "regard/cli/output.h"
#include "regard/model/model.h"
#include "regard/view/format.h"

namespace regard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoArguments {
  std::string model;
  bool json = false;
};

Json vocabulary_json(const Tokenizer& tokens) {
  return {{"tokens", to_string(tokens.kind())},
          {"size", tokens.size()},
          {"cleanup", to_string(tokens.cleanup_rule())}};
}

Json tensors_json(const Parameters& parameters) {
  Json tensors = Json::array();
  for (const ParameterInfo& p : parameters.infos()) {
    tensors.push_back({{"name", p.name}, {"rows", p.rows}, {"cols", p.cols}});
  }
  return tensors;
}

Index parameter_count(const Parameters& parameters) {
  Index count = 0;
  for (const ParameterInfo& p : parameters.infos()) count += p.rows * p.cols;
  return count;
}

Json describe(const std::string& path, const Model& model) {
  const Parameters& parameters = model.network.parameters();
  return {{"file", path},
          {"bytes", std::filesystem::file_size(path)},
          {"format_version", kModelFormatVersion},
          {"parameters", parameter_count(parameters)},
          {"source", vocabulary_json(model.source_tokens)},
          {"target", vocabulary_json(model.target_tokens)},
          {"configuration", Json::parse(to_json(model.network.config()))},
          {"training", Json::parse(model.training_record)},
          {"tensors", tensors_json(parameters)}};
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print_object(const char* title, const Json& object, Output& output) {
  output.line("");
  output.line(title);
  for (const auto& [key, value] : object.items()) {
    output.line("  " + padded(key, 22) + plain(value));
  }
}

void print(const Json& j, Output& output) {
  const auto bytes = j["bytes"].get<std::uint64_t>();
  output.line(padded("file", 24) + plain(j["file"]));
  output.line(padded("size", 24) + count_text(bytes) + " bytes (" +
              fixed_number(static_cast<double>(bytes) / 1e6, 1) + " MB), format version " +
              plain(j["format_version"]));
  output.line(padded("parameters", 24) + count_text(j["parameters"].get<std::uint64_t>()));
  for (const char* side : {"source", "target"}) {
    const Json& v = j[side];
    output.line(padded(side, 24) + plain(v["tokens"]) + " tokens, " +
                count_text(v["size"].get<std::uint64_t>()) + " in the vocabulary, clean-up " +
                plain(v["cleanup"]));
  }
  print_object("configuration", j["configuration"], output);
  print_object("training", j["training"], output);
  output.line("");
  output.line("tensors");
  std::size_t width = 0;
  for (const Json& t : j["tensors"]) width = std::max(width, plain(t["name"]).size() + 2);
  for (const Json& t : j["tensors"]) {
    output.line("  " + padded(plain(t["name"]), width) + plain(t["rows"]) + " x " +
                plain(t["cols"]));
  }
}

void info(const InfoArguments& a, Output& output) {
  const std::unique_ptr<Model> model = load_model(a.model);
  const Json j = describe(a.model, *model);
  if (a.json) {
    output.line(j.dump());
  } else {
    print(j, output);
  }
}

}  // namespace

Run add_info(CLI::App& app) {
  auto a = std::make_unique<InfoArguments>();
  CLI::App* c = app.add_subcommand("info", "what a model file holds");
  c->add_option("MODEL", a->model, "the model file")->required();
  c->add_flag("--json", a->json, "everything as one JSON object");
  return [a = std::move(a)] { return with_output([&](Output& output) { info(*a, output); }); };
}

}  // namespace regard::cli
