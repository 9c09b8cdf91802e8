"""The cluster: the steps of `release` run in blocks, for data in parts, on a Dask cluster or in this process's threads.
Only samples, sums and figures come together in one place; the steps themselves do not know of it.
"""
