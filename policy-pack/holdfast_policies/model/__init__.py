"""What a rule is, what it reads and what it may say."""
