"""Rules in force, run over objects: levels, waivers, verdicts and corrections."""
