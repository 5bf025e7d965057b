#include "regard/view/terminal_style.h"

#include <algorithm>
#include <array>

#include "regard/view/cells.h"

namespace regard {
namespace {

constexpr int kDigitsFrom = 4;  // columns of a coloured cell that has room for "100"
constexpr int kFaintBelow = 5;  // per cent; digits of lighter cells stand back
constexpr Rgb kDarkInk{0x0b, 0x12, 0x20};
constexpr Rgb kLightInk{0xf4, 0xf8, 0xff};
constexpr Rgb kFaintInk{0x5f, 0x78, 0xa3};

std::string rgb(std::string_view kind, Rgb c) {
  return "\x1b[" + std::string(kind) + ";2;" + std::to_string(c.red) + ';' +
         std::to_string(c.green) + ';' + std::to_string(c.blue) + 'm';
}

std::string repeat(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string number(int percent) { return percent < 0 ? "?" : std::to_string(percent); }

}  // namespace

std::string TerminalStyle::ground(int percent) const {
  percent = std::max(percent, 0);
  if (color_ == TerminalColor::kTruecolor) {
    return rgb("48", heat_color(Ground::kDark, percent));
  }
  return "\x1b[48;5;" + std::to_string(heat_color_256(percent)) + 'm';
}

std::string TerminalStyle::ink(int percent) const {
  const bool dark = percent >= 0 && wants_dark_text(heat_color(Ground::kDark, percent));
  const bool faint = percent >= 0 && percent < kFaintBelow;
  if (color_ == TerminalColor::kTruecolor) {
    return rgb("38", faint ? kFaintInk : dark ? kDarkInk : kLightInk);
  }
  return std::string("\x1b[38;5;") + (faint ? "67" : dark ? "16" : "231") + 'm';
}

std::string_view TerminalStyle::shade(int percent) const {
  constexpr std::array<std::string_view, 10> kAscii = {".", ":", "-", "=", "+",
                                                       "*", "o", "#", "%", "@"};
  constexpr std::array<std::string_view, 5> kBlocks = {"\u00b7", "\u2591", "\u2592", "\u2593",
                                                       "\u2588"};
  if (percent < 0) return "?";
  if (ascii_) return kAscii[static_cast<std::size_t>(std::min(percent / 10, 9))];
  const int level = percent < 5 ? 0 : percent < 25 ? 1 : percent < 50 ? 2 : percent < 75 ? 3 : 4;
  return kBlocks[static_cast<std::size_t>(level)];
}

std::string TerminalStyle::plain_cell(int percent, int width, bool peak, bool digits) const {
  const std::string_view block = shade(percent);
  const bool nothing = block == shade(0);
  if (width < 4) {
    const std::string_view mark = ascii_ ? ">" : "\u25b8";
    return std::string(peak ? mark : " ") + (nothing ? "" : repeat(block, width - 1)) +
           (nothing ? pad_right(block, width - 1) : "");
  }
  const bool with_digits = digits && width >= 6;
  const int blocks = with_digits ? width - 5 : width - 2;
  std::string inside =
      nothing ? pad_center(with_digits ? " " : block, blocks) : repeat(block, blocks);
  if (with_digits) inside += pad_left(percent == 0 ? block : number(percent), 3);
  return (peak ? "[" : " ") + inside + (peak ? "]" : " ");
}

std::string TerminalStyle::cell(int percent, int width, bool peak, bool digits) const {
  if (!colored()) return plain_cell(percent, width, peak, digits);
  std::string text;
  if (digits && width >= kDigitsFrom) {
    text = percent == 0 ? std::string(shade(0)) : number(percent);
  } else if (peak) {
    text = ascii_ ? "*" : "\u25c6";
  }
  const std::string strong = peak ? "\x1b[1m" : "\x1b[22m";
  return ground(percent) + ink(percent) + strong + pad_center(text, width);
}

std::string TerminalStyle::bar(int percent, int width) const {
  percent = std::clamp(percent, 0, 100);
  if (ascii_) return pad_right(repeat("#", (percent * width + 50) / 100), width);
  constexpr std::array<std::string_view, 8> kEighths = {"",       "\u258f", "\u258e", "\u258d",
                                                        "\u258c", "\u258b", "\u258a", "\u2589"};
  const int eighths = (percent * width * 8 + 50) / 100;
  const std::string filled =
      repeat("\u2588", eighths / 8) + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
  const std::string rest = pad_right("", width - display_width(filled));
  if (!colored()) return filled + rest;
  const std::string color = color_ == TerminalColor::kTruecolor
                                ? rgb("38", heat_color(Ground::kDark, 60))
                                : "\x1b[38;5;" + std::to_string(heat_color_256(60)) + "m";
  return color + filled + "\x1b[0m" + rest;
}

std::string TerminalStyle::faint(std::string_view text) const {
  return colored() ? "\x1b[2m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string TerminalStyle::bold(std::string_view text) const {
  return colored() ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string TerminalStyle::legend() const {
  std::string scale;
  if (colored()) {
    for (int percent = 0; percent <= 100; percent += 10) scale += ground(percent) + "  ";
    return faint("0 ") + scale + reset() + faint(" 100 %");
  }
  if (ascii_) return "0 .:-=+*o#%@ 100 %, [ ] or > the largest of its row";
  return "0 \u00b7\u2591\u2592\u2593\u2588 100 %, [ ] or \u25b8 the largest of its row";
}

}  // namespace regard
