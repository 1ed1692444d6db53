"""What a window shows before anybody types: models, tables and texts in its language, a file each."""
