"""The instructor's database: SQLite by default, PostgreSQL by URL. Imported by the class commands only."""

from tutor.gradebook.book import Gradebook, GradebookError

__all__ = ["Gradebook", "GradebookError"]
