"""The AMR metrics: similarity of two graphs as a whole, or in one aspect.

GraphBatch, GraphBatch ── measure ──> one row per pair

whole       smatch, unlabeled, wlk, wwlk
aspects     frames, concepts, named_entities, negations, coreference, srl, quantifiers
focus       max_indegree, max_outdegree, max_degree, root
"""
