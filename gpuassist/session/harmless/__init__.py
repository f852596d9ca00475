"""What of a machine tells nobody who its user is: everything is left out of a report but what is known to be harmless."""
