"""What is checked in the cluster before anything is sent."""
