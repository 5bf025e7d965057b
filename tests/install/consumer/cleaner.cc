// Reads a file, compressed or not, and cleans its text: needs what regard::translate is linked
// with.
#include <cstdio>
#include <string>

#include "regard/text/byte_source.h"
#include "regard/text/cleanup.h"

int main(int, char** arguments) {
  char bytes[100];
  const std::size_t size = regard::open_byte_source(arguments[0])->read(bytes, sizeof bytes);
  const std::string text = regard::clean_text(" e\u0301t\u00e9  ", regard::CleanupRule::kNfcSpaces);
  std::printf("%zu bytes, '%s'\n", size, text.c_str());
  return size > 0 && text == "\u00e9t\u00e9" ? 0 : 1;
}
