"""The suite of judged pairs: does an encoder tell paraphrases from pairs that only look like them?"""
