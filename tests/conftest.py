"""Settings of every test."""

from hypothesis import settings

# A shared machine pauses a test at will: a law is broken by its result, never by the clock.
settings.register_profile("holdfast", deadline=None)
settings.load_profile("holdfast")
