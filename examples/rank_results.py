"""Search results with grades of relevance: each query's list is one round."""

import numpy as np

from hinge import ListRanker

rng = np.random.default_rng(0)
queries, documents = 300, 20
X = rng.normal(size=(queries * documents, 10))
relevance = np.clip(np.round(X @ rng.normal(size=10) / 2), 0, 4)
qid = np.repeat(np.arange(queries), documents)
first = qid < 200
ranker = ListRanker(loss="kendall", k=10, C=0.1, average=True, max_iter=5).fit(
    X[first], relevance[first], qid=qid[first]
)
print(f"NDCG@10 on lists it has not seen: {ranker.score(X[~first], relevance[~first], qid=qid[~first]):.3f}")
