"""The parts of scripts/fuzz: valid inputs, mutations of them, and a process in which a command may do no harm."""
