"""The screens. Nothing outside this package imports Textual."""
