"""Fine-tuning of encoders on question patterns, and what it changes (EntityQuestions, sections 4 and 5)."""
