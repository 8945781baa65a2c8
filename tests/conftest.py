"""Settings of every test."""

import signal

from hypothesis import settings

# A shared machine pauses a test at will: a law is broken by its result, never by the clock.
settings.register_profile("holdfast", deadline=None)
settings.load_profile("holdfast")

# A shell starts its background jobs with SIGINT ignored, and what is ignored is inherited by every
# program that a test starts: how they end on a signal is part of what is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
