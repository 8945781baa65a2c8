"""The rules, one a file; the file is named as the rule, in snake_case."""
