"""Methods: records in groups of at least k, each replaced by what stands for its group; masking; sketches.
One loop (mdav) over spaces that know distance and centre; thin estimators in front.
"""
