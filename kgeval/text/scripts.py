"""Scripts that are written without spaces between words."""

# for a character class: Thai, Lao, Myanmar, Khmer, kana, ideographs with their repetition marks
RUNNING = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
