"""One typed, frozen value per noun, with its parse and its dump. Touches no file."""
