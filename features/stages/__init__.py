"""The stages of a build, each whole in one file; `features.stages.registry` lists them."""
