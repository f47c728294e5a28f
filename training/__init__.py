"""What is learned: encoders, objectives, loops and evaluation. torch lives here."""
