"""The same tables on a PostgreSQL server: one memory an owner, many owners a database."""
