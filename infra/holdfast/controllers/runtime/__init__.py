"""What every controller runs on: event loop, queue, workers, store, leader, HTTP, log."""
