"""Objects judged by the rules of the policy pack."""
