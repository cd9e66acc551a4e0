"""What a measurement leaves behind for people."""
