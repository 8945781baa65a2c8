"""What never ends: the watch, the Git loop and the operator over one runtime."""
