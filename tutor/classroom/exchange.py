"""The folder that a class shares: learners drop files into it, and fetch their feedback from it. No server.

    CLASS/            0755   the instructor's
      class.toml      0644   what a learner's tutor has to know
      inbox/          1733   anybody may put a file in, nobody but the instructor may list it
      feedback/       0711   anybody may open a file whose name they know
      private/        0700   gradebook and settings

How work stays unread: an instructor who is not root must be able to read what others own, so a hand-in has mode 0644,
and what protects it is its name, 128 random bits in a folder that cannot be listed. Feedback goes the other way by the
same means: its name is a secret that only the learner's own hand-in holds. The sticky bit keeps everybody from removing
or replacing what others have put there. Access lists are not needed, which differ from box to box; a group only where
others of the machine help to grade: theirs is `private/` then, mode 2770, and they may list the inbox, mode 1773.

Who handed in is the owner of the file: the kernel says so, nothing that stands in the file.
"""

from __future__ import annotations

import errno
import grp
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tutor.learner.line_file import write_whole
from tutor.model import Message, TutorError
from tutor.paths import why

CLASS_FILE = "class.toml"
PART = ".part"
INBOX_MODE, FEEDBACK_MODE, PRIVATE_MODE, CLASS_MODE = 0o1733, 0o711, 0o700, 0o755
#: With a group of graders. The first one's bits are how the choice is remembered.
PRIVATE_SHARED_MODE, INBOX_SHARED_MODE = 0o2770, 0o1773
FILE_MODE = 0o644

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMLINK)


class ExchangeError(TutorError):
    """The class folder cannot be used; `message` says what is wrong and who can mend it."""


class Unreadable(TutorError):
    """A file that somebody left is not one to be read; `message` says why."""


@dataclass(frozen=True, slots=True)
class ClassFolder:
    """A class folder as its `class.toml` describes it. `owner` is the number of the instructor's user."""

    path: Path
    id: str
    lesson: str
    owner: int

    @property
    def inbox(self) -> Path:
        return self.path / "inbox"

    @property
    def feedback(self) -> Path:
        return self.path / "feedback"

    @property
    def private(self) -> Path:
        return self.path / "private"

    @property
    def graders(self) -> int | None:
        """The number of the group that helps to grade, None without one. Raises OSError."""
        info = self.private.stat()
        is_shared = stat.S_IMODE(info.st_mode) & PRIVATE_SHARED_MODE == PRIVATE_SHARED_MODE
        return info.st_gid if is_shared else None

    @property
    def private_mode(self) -> int:
        """The mode of what is in `private`. Raises OSError."""
        return 0o600 if self.graders is None else 0o660

    @classmethod
    def open(cls, path: Path) -> ClassFolder:
        """The class in `path`. Raises ExchangeError."""
        about = path / CLASS_FILE
        try:
            fd = os.open(about, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                owner = os.fstat(fd).st_uid
                table = tomllib.loads(file.read(64 << 10).decode("utf-8"))
            return cls(path.absolute(), str(table["id"]), str(table["lesson"]), owner)
        except (FileNotFoundError, NotADirectoryError):
            raise ExchangeError("class.no-class", path=str(path)) from None
        except OSError as error:
            raise ExchangeError("class.unusable", path=str(about), why=why(error)) from None
        except (ValueError, KeyError, RecursionError):
            raise ExchangeError("class.damaged", path=str(about)) from None


# --- the instructor's side --------------------------------------------------------------------------------------------


def create(path: Path, lesson: str, graders: str | None = None) -> tuple[ClassFolder, list[Message]]:
    """Make the class in `path`, or put an old one's modes right. `graders` is a group whose members may grade; an
    earlier one stays when it is None. The messages say what this file system or these modes cannot keep. Raises
    ExchangeError."""
    group = _group(graders) if graders is not None else None
    path = path.absolute()
    try:
        path.mkdir(mode=CLASS_MODE, parents=True, exist_ok=True)
        if not (path / CLASS_FILE).exists():
            if any(path.iterdir()):
                raise ExchangeError("class.init-not-empty", path=str(path))
            write_whole(path / CLASS_FILE, f'schema = 1\nid = "{secrets.token_hex(8)}"\nlesson = "{lesson}"\n'.encode())
        (path / CLASS_FILE).chmod(FILE_MODE)
        folder = ClassFolder.open(path)
        if group is None and folder.private.exists():
            group = folder.graders
        if group is not None and os.geteuid() != 0 and group not in (os.getegid(), *os.getgroups()):
            raise ExchangeError("class.graders-not-in", group=group_name(group))  # the modes would not be kept
        inbox, private = (INBOX_MODE, PRIVATE_MODE) if group is None else (INBOX_SHARED_MODE, PRIVATE_SHARED_MODE)
        wanted = {path: CLASS_MODE, folder.feedback: FEEDBACK_MODE, folder.inbox: inbox, folder.private: private}
        for each, mode in wanted.items():
            each.mkdir(exist_ok=True)
            _give(each, folder, group if each in (folder.inbox, folder.private) else None)
            each.chmod(mode)  # mkdir leaves the umask's bits away, and the sticky bit
        for each in folder.private.iterdir():
            if os.geteuid() in (0, each.stat().st_uid):  # what another grader wrote has the mode that it needs
                _give(each, folder, group)
                each.chmod(folder.private_mode)
    except FileExistsError:
        raise ExchangeError("class.unusable", path=str(path), why=os.strerror(errno.ENOTDIR)) from None
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(error.filename or path), why=why(error)) from error
    return folder, list(_broken_promises(folder, wanted))


def _group(name: str) -> int:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise ExchangeError("class.graders-unknown", group=name) from None


def _give(path: Path, folder: ClassFolder, group: int | None) -> None:
    """Let a part of the class belong to its instructor, when root made it, and to a group. Raises OSError."""
    info = path.stat()
    user = folder.owner if os.geteuid() == 0 and info.st_uid != folder.owner else -1
    if user != -1 or group not in (None, info.st_gid):
        os.chown(path, user, -1 if group is None else group)


def group_name(number: int) -> str:
    """The name of a group of this machine, its number for one that it does not know."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _broken_promises(folder: ClassFolder, wanted: Mapping[Path, int]) -> Iterator[Message]:
    for path, mode in wanted.items():
        have = stat.S_IMODE(path.stat().st_mode)
        if have != mode:
            yield Message("class.promise-mode", {"path": str(path), "mode": f"{have:04o}", "wanted": f"{mode:04o}"})
    for above in folder.path.parents:
        if not above.stat().st_mode & stat.S_IXOTH:
            yield Message("class.promise-closed", {"path": str(above)})
    probe = folder.inbox / f".{secrets.token_hex(16)}{PART}"
    try:
        fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb"):
            os.fchmod(fd, 0o600)
            info = os.fstat(fd)
        probe.unlink()
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(folder.inbox), why=why(error)) from error
    if info.st_uid != os.geteuid():
        yield Message("class.promise-owner", {"path": str(folder.inbox)})
    if stat.S_IMODE(info.st_mode) != 0o600:
        yield Message("class.promise-file-mode", {"path": str(folder.inbox)})


class Dropped(NamedTuple):
    """A file in the inbox as the folder lists it. `stamp` changes whenever the file may have; `arrived` is in seconds
    since 1970 by the file server's clock, which the owner cannot set."""

    name: bytes
    owner: int
    stamp: str
    arrived: float


def dropped(folder: ClassFolder) -> list[Dropped]:
    """Everything in the inbox but files that are still being written, oldest first. Raises ExchangeError."""
    found: list[Dropped] = []
    try:
        with os.scandir(os.fsencode(folder.inbox)) as entries:
            for entry in entries:
                if entry.name.startswith(b".") and entry.name.endswith(PART.encode()):
                    continue
                with suppress(FileNotFoundError):  # its owner took it back meanwhile
                    info = entry.stat(follow_symlinks=False)
                    stamp = f"{info.st_dev}.{info.st_ino}.{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}"
                    found.append(Dropped(entry.name, info.st_uid, stamp, info.st_ctime))
    except FileNotFoundError:
        raise ExchangeError("class.no-inbox", path=str(folder.inbox)) from None
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(folder.inbox), why=why(error)) from error
    return sorted(found, key=lambda each: (each.arrived, each.name))


def read_stranger(path: bytes, most: int) -> tuple[bytes, os.stat_result]:
    """As `read_regular`, of a folder that anybody may write to. Raises Unreadable, also for a second name of a file:
    somebody else's file can get one here."""
    raw, info = read_regular(path, most)
    if info.st_nlink != 1:
        raise Unreadable("class.refuse-hard-link")
    return raw, info


def read_regular(path: bytes, most: int) -> tuple[bytes, os.stat_result]:
    """A regular file, and what the kernel says of it. Raises Unreadable: for a link, a pipe, a device, a folder, a file
    larger than `most` bytes, one that we may not read."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            raise Unreadable("class.refuse-link")
        if not stat.S_ISREG(info.st_mode):  # not even opened: that alone can do something to a device or a pipe
            raise Unreadable("class.refuse-no-file")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                raise Unreadable("class.refuse-no-file")
            if info.st_size > most:
                raise Unreadable("class.refuse-large", size=info.st_size, most=most)
            raw = file.read(most + 1)
    except OSError as error:
        raise Unreadable("class.refuse-unreadable", why=why(error)) from None
    if len(raw) > most:
        raise Unreadable("class.refuse-large", size=len(raw), most=most)
    return raw, info


# --- the learner's side -----------------------------------------------------------------------------------------------


class Receipt(NamedTuple):
    """What the learner keeps of a hand-in. `file` is the secret name in the inbox."""

    folder: str
    class_id: str
    file: str
    sha256: str
    number: int
    made: str
    reply: str

    def to_data(self) -> dict[str, Any]:
        return {"schema": 1, **self._asdict()}


def drop(folder: ClassFolder, name: str, raw: bytes) -> list[Message]:
    """Put a file into the inbox: whole, or not at all. `name` is a secret of the sender, see `secret_name`. Returns
    what the sender should know of the inbox. Raises ExchangeError."""
    part, final = folder.inbox / f".{name}{PART}", folder.inbox / name
    try:
        mode = folder.inbox.stat().st_mode
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(raw)
                file.flush()
                os.fchmod(fd, FILE_MODE)
                os.fsync(fd)
                if os.fstat(fd).st_uid != os.geteuid():
                    raise ExchangeError("class.submit-identity", path=str(folder.inbox))
            part.rename(final)
        except BaseException:
            with suppress(OSError):  # what failed is told; a part that stays behind is never read
                part.unlink()
            raise
    except FileNotFoundError:
        raise ExchangeError("class.submit-no-inbox", path=str(folder.inbox)) from None
    except OSError as error:
        raise ExchangeError(_trouble(error), path=str(folder.inbox), why=why(error)) from error
    unsafe = folder.owner != os.geteuid() and (mode & stat.S_IROTH or not mode & stat.S_ISVTX)
    return [Message("class.submit-open-inbox", {"path": str(folder.inbox)})] if unsafe else []


def secret_name() -> str:
    """A new name for a file in the inbox, which nobody can guess."""
    return f"{secrets.token_hex(16)}.json"


def _trouble(error: OSError) -> str:
    if error.errno in _FULL:
        return "class.submit-full"
    if error.errno == errno.EROFS:
        return "class.submit-read-only"
    return "class.submit-forbidden" if error.errno in (errno.EACCES, errno.EPERM) else "class.submit-failed"
