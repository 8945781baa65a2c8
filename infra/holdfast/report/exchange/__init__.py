"""Formats of other tools: SARIF, JUnit, OpenReports, OSCAL, Markdown, annotations."""
