"""What is kept from the disk, what is marked, what is taken away for good."""
