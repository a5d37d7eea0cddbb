"""What each kind of report says: a record as a document."""
