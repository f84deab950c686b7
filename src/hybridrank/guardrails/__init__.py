"""Pure functions between a language model's reply and what is done with it."""
