"""The project folder: finding it, and each noun's shelf under ``data/``. Computes no statistic."""
