"""The grammar and the words of the French-English corpus."""
