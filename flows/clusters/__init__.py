"""Clusters: processes here, or an existing cluster; who may join, what workers need, what may happen to them."""
