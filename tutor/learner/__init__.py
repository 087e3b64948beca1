"""What a learner has done, on the disk and added up: the journal, the answers, the points, the report."""
