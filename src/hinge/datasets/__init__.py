"""Data sets: generators that need nothing, and loaders of published files found by `data_home`."""

from .bundles import Lists, Mail, MultiLabel, Split, Table, Words
from .enron import USERS as ENRON_USERS
from .enron import load_enron
from .home import data_home
from .mailbox import synthetic_mailbox
from .multiclass import load_a9a, load_letter_recognition, load_mnist_test, load_usps
from .multilabel import (
    MULAN_NAMES,
    load_mulan,
    load_newsgroups20,
    load_rcv1_subset,
    load_reuters_k500,
    read_mulan,
)
from .ordinal import interval_labels, load_abalone, load_orca, load_parkinsons, synthetic_ordinal
from .ranking import Fold, load_lambdarank, load_mq2008
from .reuters import load_reuters21578
from .sequences import load_ocr_letters

__all__ = [
    "ENRON_USERS",
    "MULAN_NAMES",
    "Fold",
    "Lists",
    "Mail",
    "MultiLabel",
    "Split",
    "Table",
    "Words",
    "data_home",
    "interval_labels",
    "load_a9a",
    "load_abalone",
    "load_enron",
    "load_lambdarank",
    "load_letter_recognition",
    "load_mnist_test",
    "load_mq2008",
    "load_mulan",
    "load_newsgroups20",
    "load_ocr_letters",
    "load_orca",
    "load_parkinsons",
    "load_rcv1_subset",
    "load_reuters21578",
    "load_reuters_k500",
    "load_usps",
    "read_mulan",
    "synthetic_mailbox",
    "synthetic_ordinal",
]
