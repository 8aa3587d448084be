"""File mail as it comes: folders appear on the way, every correction counts from the next message on."""

from hinge import LabelRanker
from hinge.datasets import synthetic_mailbox

ranker = LabelRanker(C=0.1)
right = shown = 0
for filed, (message, folder) in enumerate(synthetic_mailbox(3000, 24), start=1):
    suggestions = [name for name, score in ranker.rank_one(message, top=3)]
    right += suggestions[:1] == [folder]
    shown += folder in suggestions
    ranker.learn_one(message, folder)
    if filed % 1000 == 0:
        folders = len(ranker.classes_)
        print(f"{filed} messages, {folders} folders: {right / filed:.0%} right, {shown / filed:.0%} in three")

proof = ranker.certificate_
print(f"{proof.mistakes} mistakes; at most {proof.mistake_bound:.0f} were possible")
