"""Pure arrays in, numbers and frozen results out. Sees no model, no record, no database."""
