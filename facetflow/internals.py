"""What the public package imports from `training`, in one place: a move there changes only this module."""

from training.attribution import Attribution, attribute
from training.encoded_files import Encoded, Precision, encode_file
from training.encoders.loading import load_encoder, load_reader
from training.encoders.s3bert.explain import Explanation, encoder_facts, explain_with, with_graphs, without_encoder
from training.encoders.s3bert.facet_reading import FacetReading
from training.encoders.s3bert.facets import FILE_NAME, WHOLE, FacetLayout, facet_dimensions, facets_of
from training.nearest import Nearest, Similarities, cosines_of, find_nearest, unit
from training.predicting import GivenThreshold, PairPredictor, Prediction
from training.search.blocks import weighted_similarities
from training.search.choosing import named_encoder, task_of
from training.search.vectors import cached_vectors, embed, embed_in_parts
from training.similarity import cosines

# The types in signatures of the public package: to the strict type checker of a user others are unknown.
__all__ = ["Attribution", "Encoded", "Explanation", "FacetLayout", "FacetReading", "GivenThreshold", "Nearest"]
__all__ += ["PairPredictor", "Precision", "Prediction", "Similarities"]
