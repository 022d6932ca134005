"""Sums: agreement, scores, winners and signals, as pure functions on values and columns.

Nothing here reads a file, a clock or a setting. Counts are exact integers and sums of floats use
``math.fsum``, so the same input gives the same bytes on any machine. A figure that is undefined is None
(or absent from a mapping), never 0 or NaN.
"""
