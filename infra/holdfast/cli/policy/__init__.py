"""`holdfast policy`: rules, verdicts, settings and waivers."""
