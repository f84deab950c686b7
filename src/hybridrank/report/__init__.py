"""What people look at: plain text and HTML."""
