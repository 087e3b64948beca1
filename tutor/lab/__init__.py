"""Runs demos under a Python that has torch, and judges what they observed. Nothing here imports torch into the tutor.

A front end needs `host` (start, stream, cancel), `predictions` (read what the learner predicted), `transcripts` (replay
a recorded run where none can be made) and the words in `protocol`. `parent`, `child`, `machine` and `probe` are run by
path under the interpreter that has torch, and are never imported by the tutor.

What any other job compiled is read from its TORCH_TRACE files, without torch: `trace_files` finds them, `trace_reading`
reads them (`trace_records`, `trace_fields`, `trace_facts`), `trace_job` adds up and compares ranks, `trace_advice` and
`trace_story` say it.
"""
