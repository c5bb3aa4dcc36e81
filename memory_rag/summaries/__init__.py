"""What has left the window in few words: every line cites the turns it came from, and an audit says what it lost."""
