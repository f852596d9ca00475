"""Scripts for those who work on gpuassist: refreshing knowledge, examples, words, pictures."""
