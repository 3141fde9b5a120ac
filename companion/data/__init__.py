"""Recorded data of trained models; `companion.embeddings` reads it, `README.md` describes it."""
