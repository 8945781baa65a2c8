"""`make demo-recovery`: a cluster and a state that are lost, and brought back, told as a story."""

import sys

from examples.recovery.story import tell

if __name__ == "__main__":
    sys.exit(tell())
