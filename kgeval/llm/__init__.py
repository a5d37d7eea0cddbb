"""The only room that talks to a model: prompts, requests, the journal, rates, budget, structured replies, embeddings, fakes."""
