"""Whether all of a page arrived: every thing of its source is shown, linked, marked or left out with a reason."""
