"""The lab on a real torch, which is imported once for all that run a demo as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tutor.lab.host import LabHost, LabSettings


@pytest.fixture(scope="session")
def host() -> Iterator[LabHost]:
    host = LabHost(LabSettings(limit_s=300.0))
    yield host
    host.close()
