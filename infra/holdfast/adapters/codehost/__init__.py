"""The only room that talks to GitHub and GitLab: comments of a change, issues of a project.

`detection.code_host` finds out from a job's variables where it runs; `sticky` keeps one comment and
one issue for each marker. Knows no agent, no cluster and no report: a text is handed in.
"""
