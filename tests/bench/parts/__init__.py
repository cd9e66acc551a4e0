"""What each part of the search is worth: the search as it is over an index in memory, replayed with a part off."""
