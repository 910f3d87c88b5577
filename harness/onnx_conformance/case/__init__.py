"""A case, the comparison of an answer with the expected values, and values and models as text.

Imports `declare` and `spec`; the packages that generate, run or report cases import it.
"""
