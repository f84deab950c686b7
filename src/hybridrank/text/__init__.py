"""Text: tokenizer, stop words and query normalisation."""
