"""The instructor's screens: the list of the class, one item under review, figures, criteria."""
