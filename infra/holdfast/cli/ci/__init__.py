"""`holdfast ci`: comments, issues and gates of a pipeline."""
