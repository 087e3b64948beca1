"""What a free text gives evidence of, by the rules of a lesson: quotes, never a score."""
