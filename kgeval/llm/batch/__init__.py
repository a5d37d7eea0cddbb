"""Provider batch endpoints (the shape of the OpenAI Batch API) as a way for calls: what the journal lacks is collected, uploaded,
waited for, and put into the journal under the keys that live calls have. A run that follows finds it there.
"""
