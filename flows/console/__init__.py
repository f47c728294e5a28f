"""What the commands share: options, help, errors, tables and explanations for a terminal."""
