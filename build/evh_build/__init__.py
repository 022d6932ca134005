"""From ``data/`` to a site: one DuckDB, the pages, and how they are rendered, checked and swapped in."""
