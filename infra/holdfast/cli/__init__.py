"""Arguments in, exit code out: one file a verb. No rule of the business lives here."""
