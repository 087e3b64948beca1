"""One module per pane of the learner's screen."""
