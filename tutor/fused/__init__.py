"""The optional exercise: a fused kernel of the learner's own; read here, run elsewhere, judged here."""
