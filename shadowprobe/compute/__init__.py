"""A function mapped over the parts of some work: in this process, on all cores, or on a cluster."""
