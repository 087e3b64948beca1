"""A class: hand-ins through a shared folder, what earns points, review, re-grading and feedback."""
