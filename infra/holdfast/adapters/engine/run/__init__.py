"""How the engine is started, watched and stopped."""
