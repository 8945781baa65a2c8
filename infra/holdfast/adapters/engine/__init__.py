"""The only room that runs the Pulumi engine.

Its environment, its process, its events, its failures, its state. `stack.open_stack` runs it,
`baseline.read_baseline` reads what the last good update left without running it. Nothing here
knows an agent, talks to a cluster itself or prints.
"""
