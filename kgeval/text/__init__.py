"""Text without models: names and their normal forms."""
