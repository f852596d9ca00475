"""Start-up files as bytes: parsed, judged line by line, edited, merged; pure."""
