"""The only room that runs Git: what a folder holds, an earlier commit in a folder of its own."""
