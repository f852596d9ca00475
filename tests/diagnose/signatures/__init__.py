"""Every message in its wordings, and texts that look like it and are not."""
