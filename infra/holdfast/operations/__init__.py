"""What can be asked of one stack: a request in, a result out; no terminal, no exit code."""
