"""The loop that never ends: what is heard of a cluster, judged object by object, told at once."""
