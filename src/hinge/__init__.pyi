from . import _core as _core
from . import checks as checks
from . import datasets as datasets
from . import io as io
from . import metrics as metrics
from . import norms as norms
from .base import load as load
from .bipartite import BipartiteRanker as BipartiteRanker
from .certificate import Certificate as Certificate
from .evaluation import ProgressiveReport as ProgressiveReport
from .evaluation import progressive as progressive
from .label_ranking import LabelRanker as LabelRanker
from .model_file import ModelFileError as ModelFileError
from .multiclass import MulticlassClassifier as MulticlassClassifier
from .multitask import MultitaskClassifier as MultitaskClassifier
from .multitask import MultitaskRegressor as MultitaskRegressor
from .ordinal import OrdinalClassifier as OrdinalClassifier
from .ordinal_baselines import PRank as PRank
from .ordinal_baselines import WidrowHoffClassifier as WidrowHoffClassifier
from .output_codes import OutputCodeClassifier as OutputCodeClassifier
from .pairwise import MMP as MMP
from .pairwise import PairwiseLabelRanker as PairwiseLabelRanker
from .pairwise_cv import PairwiseLabelRankerCV as PairwiseLabelRankerCV
from .perceptron import MulticlassPerceptron as MulticlassPerceptron
from .ranking import ListRanker as ListRanker
from .reductions import AllPairsClassifier as AllPairsClassifier
from .reductions import OneVsAllClassifier as OneVsAllClassifier
from .sequence import SequenceClassifier as SequenceClassifier
from .structured import StructuredClassifier as StructuredClassifier

__version__: str
ESTIMATORS: dict[str, str]
