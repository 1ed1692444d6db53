"""Tables that are no plain text: sheets of workbooks, tables of databases, Parquet."""
