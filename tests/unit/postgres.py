"""A PostgreSQL server of our own, for tests and benches: in a folder, on a free port, gone afterwards."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import sqlalchemy as sa

#: Why there is none, for who wants to know.
MISSING = "PostgreSQL is not installed here (apt-get install postgresql): only SQLite is used"


def programs() -> Path | None:
    """The folder of PostgreSQL's own programs, None when it is not installed."""
    path = shutil.which("initdb") or next(
        (str(each) for each in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None
    )
    return Path(path).parent if path else None


def _ordinary() -> dict[str, Any]:
    """Whom the server runs as: it refuses to be root."""
    if os.geteuid() != 0:
        return {}
    users = {each.pw_name: each for each in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    """One server, in the empty folder `home`, which any user can reach. Raises subprocess.CalledProcessError."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._folder, self._home, self._who = folder, home, _ordinary()
        if self._who:
            os.chown(home, self._who["user"], self._who["group"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._call("initdb", "-U", "tutor", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self._call("pg_ctl", "-w", "-t", "30", "-l", str(self._home / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        self._call("pg_ctl", "-w", "-m", "immediate", "stop")

    def database(self, copy_of: str | None = None) -> str:
        """The URL of a new database: empty, or a copy of the one that a URL names."""
        name = f"book_{secrets.token_hex(6)}"
        template = f" TEMPLATE {copy_of.rpartition('/')[2]}" if copy_of else ""
        engine = sa.create_engine(self._url("postgres", "postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}{template}"))
        engine.dispose()
        return self._url(name)

    def _url(self, name: str, scheme: str = "postgresql") -> str:
        return f"{scheme}://tutor@127.0.0.1:{self._port}/{name}"

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._folder / program), "-D", str(self._home / "data"), *arguments]
        subprocess.run(command, cwd="/", check=True, stdout=subprocess.DEVNULL, timeout=60, **self._who)
