"""What holds for every test: none fails because the machine is slow."""

from hypothesis import settings

settings.register_profile("tutor", deadline=None)
settings.load_profile("tutor")
