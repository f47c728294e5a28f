"""Every fault that a user may meet, by code: its cause, then its remedy after the colon.

`docs/reference/errors.md` is made of these lines (`python tools/errors_page.py`); an error's message says which file,
row or name it is about. A new fault takes the next free number of its family; a number is never used for another one.

    FF0xx  of the command line and the system   FF3xx  the store
    FF1xx  files and rows that are read         FF4xx  models and encoders
    FF2xx  settings and the project file        FF5xx  runs, clusters and servers
"""

from functools import partial
from typing import TypeVar

from features.core.errors import FacetflowError, InputError, ModelError, RunError, SettingsError, StoreError

_Family = TypeVar("_Family", bound=FacetflowError)


def _fault(family: type[_Family], number: int, meaning: str) -> type[_Family]:
    return type("fault", (family,), {"__doc__": meaning, "__module__": __name__}, code=f"FF{number:03}")


_other = partial(_fault, FacetflowError)
_input = partial(_fault, InputError)
_setting = partial(_fault, SettingsError)
_store = partial(_fault, StoreError)
_model = partial(_fault, ModelError)
_run = partial(_fault, RunError)

Usage = _other(1, "A command was called with a wrong option or argument: read its help, `facetflow COMMAND --help`.")
FileSystem = _other(
    2, "The system refused a file: free space, correct the permissions, or name another place, as the message says."
)
TextEncoding = _other(
    3, "Text has a byte or character that its encoding lacks: use UTF-8, for files and for the terminal."
)
Unexpected = _other(
    4, "A defect of facetflow, or of a library that it uses: report it with the traceback that the message names."
)

FileMissing = _input(101, "A path is misspelt, or relative to another folder: correct it, or put the file there.")
NotAFile = _input(102, "A path leads to a folder, a pipe or a device where a file is read: name a file.")
FileUnreadable = _input(103, "A file is there but cannot be opened: correct its permissions, or name another.")
FileEmpty = _input(
    104, "A file has none of the rows, sentences or graphs that it is read for: check that it was written to its end."
)
NotText = _input(105, "A file is not text in UTF-8, or has null bytes: save it as UTF-8.")
GzipWrong = _input(
    106, "A file is compressed where that is not expected, or was cut off: decompress it, or fetch it again."
)
FileTooLong = _input(
    107, "A line, or what a file decompresses to, is longer than any text: check that the file is text in lines."
)
UnknownFormat = _input(
    108, "The suffix of a file does not tell its format: use one of those listed, or choose with --format."
)
UnknownForm = _input(
    109, "The content of a file is not in a form that its kind may have: compare it with the form that is expected."
)
ColumnMissing = _input(110, "A table lacks a column that is needed: name the columns that it has, or add the column.")
ColumnTwice = _input(111, "A table has two columns of one name: keep one, and rename the others.")
ColumnsUnclear = _input(
    112, "The columns given for two sentences do not name two columns: give two that the table has."
)
CellNeverEnds = _input(
    113, "A double quote opens a cell that nothing closes: close or double it, or set how `quotes` are read."
)
CellNotWritable = _input(114, "A value has no place in the format of the output: write .jsonl or .parquet.")
OutputRefused = _input(
    115, "An output cannot be written where it should be: name a folder that exists and may be written to."
)
OutputOverwrites = _input(116, "An output would overwrite an input or another output: give it a file of its own.")
RowWrong = _input(117, "A row of a file that must be right as a whole is wrong: correct the row.")
NotParallel = _input(
    118, "Two files that belong together differ in length or content: give files with one line or block a pair."
)
IdsDiffer = _input(
    119, "Graphs of two files cannot be paired by their ids: make ids unique, and give the same on both sides."
)
SplitUnclear = _input(
    120, "Files are given for several splits, and nothing says which row is in which: give files for each split."
)
NotPenman = _input(121, "A graph is not valid PENMAN: correct it at the line and column of the message.")
GraphUnusable = _input(122, "A graph is valid but cannot be compared: mend what the message names.")
NotTexts = _input(123, "Something else was given where texts are needed: give strings, or pairs of strings.")
EmptyText = _input(124, "A text is empty: leave it out, or give one.")
CannotPair = _input(
    125, "The two sides differ in number, or a pair is not there: give as many on the left as on the right."
)
TooFewTexts = _input(126, "There are fewer texts or graphs than the task needs: give more.")
MetricFileWrong = _input(127, "A file of own metrics cannot be run, or has no metric: mend it, and check its path.")
MetricWrong = _input(128, "An own metric returned what it must not: mend it, or declare it as it is.")
VectorsWrong = _input(
    129, "Vectors do not fit their words, one another or the encoder: make all of them with one model."
)
GraphIndexWrong = _input(
    130, "The index in which sentences are looked up is missing or damaged: build it from the graph files again."
)
NoTrainingData = _input(
    131, "The splits have nothing that an encoder learns from: name other splits, or corpora that have it."
)
NothingToScore = _input(
    132, "The data have nothing that can be scored: choose another split, or give data with human scores or labels."
)
NothingToLearn = _input(
    133, "All examples have the same label, or too few have another: give more varied data, or leave the aspect out."
)
SplitsOverlap = _input(
    134, "The same data are in two splits, so that scores would be too good: give each split files of its own."
)
ReleaseLacks = _input(
    135, "A release has not what an encoder reads: build it with that stage, or name corpora that have it."
)
SeveralParsers = _input(136, "The data were made by several parsers: build again with one.")
OtherText = _input(137, "Frames belong to another text, or to another version of it: tag the sentences again.")
ScoredDifferently = _input(
    138, "Scores were taken on different data and cannot be compared: evaluate on one release and split."
)
NotEvaluated = _input(139, "There are no scores yet: run `facetflow evaluate`.")
EvaluationDamaged = _input(
    140, "Files of an evaluation are damaged, or of another version: run `facetflow evaluate` again."
)
UnknownTexts = _input(141, "What is to be searched is neither a file nor a corpus with texts: name one of them.")
RecordUnreadable = _input(142, "A file that an earlier step wrote cannot be read: run that step again.")

NoProjectFile = _setting(
    201, "No project file is there, or it cannot be read: name it with --project, or run `facetflow new`."
)
NotToml = _setting(202, "The project file is not TOML in UTF-8: mend the line that the message shows.")
UnknownKey = _setting(
    203, "A key of the project file is unknown: correct its name, or move it to the section where it belongs."
)
MissingKey = _setting(204, "A key of the project file is missing: add it.")
WrongValue = _setting(205, "A key has a value of the wrong type or out of its range: give what the message says.")
SeveralFaults = _setting(206, "Several keys of the project file are wrong: mend each line of the message.")
EmptySetting = _setting(207, "A setting is empty and so has no effect: give a value, or leave it out.")
Conflict = _setting(
    208, "Two settings contradict each other, or one has no use beside the other: leave one of them out."
)
RepeatedValue = _setting(209, "A list has a value twice: give each once.")
NameTaken = _setting(210, "Two things have the same name: rename one of them.")
NameNotAllowed = _setting(
    211, "A name has characters that it must not have, or a meaning of its own: use letters, digits, - and _."
)
UnknownName = _setting(212, "Nothing of that kind has this name: use one of the names in the message.")
UnknownMetric = _setting(213, "There is no such metric, or it cannot be used here: use one of those in the message.")
UnknownLabel = _setting(214, "No pair or text has the label or aspect that is named: use one of those in the message.")
UnknownEncoder = _setting(
    215, "The project file has no encoder of this name: correct the name, or add a section [[encoders]]."
)
OutOfRange = _setting(216, "A number is outside the range that makes sense: give one within it.")
DeviceMissing = _setting(217, 'The device asked for is not there: use "auto" or "cpu", or a machine with a GPU.')
MetricSettings = _setting(
    218, "An own metric is declared with what does not fit, or is not built: correct its @own_metric(…)."
)
ScheduleWrong = _setting(
    219, 'A schedule is not a cron expression that ever comes: write five fields, such as "0 2 * * *".'
)
StageOff = _setting(220, "A stage reads what another one makes, which is switched off: enable both or neither.")
PlanWrong = _setting(
    221, "Stages are planned in an order or with a recipe that cannot be: put what is read before what reads it."
)
JobWrong = _setting(
    222, "The file of a training or an evaluation is not a job: run `facetflow train` or `evaluate` again."
)
PathTaken = _setting(
    223, "Something is already where a file is to be made: choose another folder, or rename what is there."
)
Unencrypted = _setting(
    224, "The connections to a Dask cluster are not encrypted: use a tls:// address and certificates."
)
CertificatesWrong = _setting(
    225, "The certificates for a Dask cluster are missing or do not match: name PEM files that belong together."
)
OtherSettings = _setting(
    226, "A folder holds the result of other settings, data or another version: choose another, or delete it."
)

NoStore = _store(301, "The folder holds no store: check its path, or make the store with `facetflow build`.")
NotAStore = _store(302, "The folder holds files of something else: give an empty or a new folder.")
StorePathWrong = _store(
    303,
    "A store cannot be there: give a folder that all workers share, without '%' in its name, or `s3://bucket/prefix`.",
)
StoreVersion = _store(304, "The store was made by another version of facetflow: name another folder and build anew.")
StoreUnreachable = _store(
    305, "The file system refused to read or write the store: do what the message says, and run again."
)
StoreDamaged = _store(
    306, "Files of the store are not as facetflow left them: `facetflow build --deep`, a backup, or a new store helps."
)
TableFileDamaged = _store(307, "A file of a table is damaged or lost: `facetflow build --deep` makes it again.")
OtherProjectsStore = _store(
    308, "The store belongs to another project: name another folder, or take it over with `build --adopt`."
)
UnknownTable = _store(309, "The store or release has no such table, column or stage: use one of those in the message.")
UnknownShard = _store(
    310, "A shard is not committed, or was passed without those it needs: run ingest, or pass all shards."
)
RowsWrong = _store(311, "The rows of a shard do not fit their table: a defect of the stage, which has to be mended.")
RowsLost = _store(
    312, "Rows went into a stage and did not come out once: a defect of the stage, which has to be mended."
)
CommitRefused = _store(
    313, "A shard is not what its receipt says: plan again with the settings in use, and run the shard again."
)
WrittenByAnother = _store(
    314, "Another process wrote to the store at the same time: let one build run at a time, then run again."
)
NotComplete = _store(315, "Shards are missing, so nothing can be published: build first.")
NothingToPublish = _store(316, "The store holds no sentences: name corpora that have rows, and build.")
TooManyRejects = _store(
    317, "A stage rejected more rows than `limits` allows: see `facetflow rejects`, or raise the limit."
)
NoRelease = _store(318, "There is no such release: build first, or name one that there is.")
ReleaseKept = _store(319, "The newest release is never removed: name an older one.")
ReleaseCountWrong = _store(
    320, "A release has another number of rows than it was published with: restore the table, or publish again."
)
CannotRebuild = _store(
    321, "Damaged files cannot be made again, because their sources changed or are gone: restore the sources."
)
DamageFound = _store(322, "`facetflow verify` found damage: do what its lines say, mostly `facetflow build --deep`.")

UnknownModel = _model(401, "No model has this name: use a known name, the path of a folder, or owner/name of the Hub.")
ModelNotPulled = _model(402, "A model is not on this machine: get it with `facetflow models pull`.")
ModelDamaged = _model(403, "Files of a model are missing or corrupted: pull or install it again.")
NotThisModel = _model(
    404, "A folder holds another kind of model than is needed, or another format of it: name the right folder."
)
NotAnEncoder = _model(405, "A folder holds no encoder: give the folder of an encoder, or of the run that trained it.")
LibraryMissing = _model(406, "A library is not installed, or too new: install it as the message says.")
ModelNotLoaded = _model(407, "A library cannot load a model: check its folder, and that the versions of both match.")
ModelUnfit = _model(408, "A model has not the component that is needed: give one that has it.")
DownloadFailed = _model(
    409, "A model cannot be downloaded: check the network, or give a file that was fetched elsewhere."
)
ArchiveWrong = _model(410, "A downloaded file is damaged, or not the pinned one: download it again.")
ArchiveUnsafe = _model(
    411, "An archive would write outside its folder, and nothing was unpacked: fetch it from its true source."
)
GpuFailed = _model(412, "The GPU failed in the middle of its work: run the shard again.")
NoEncoder = _model(413, "There is no trained encoder here: run `facetflow train`, or name one with --encoder.")
UnknownRun = _model(
    414, "No encoder or run has this name: use one of those in the message (`facetflow runs` lists them)."
)
EncoderUnfinished = _model(415, "The training of an encoder has not finished: wait for it, or run `facetflow train`.")
RunGone = _model(416, "A run was deleted, or a link leads to one that was: restore it, or name another run.")
EncoderDamaged = _model(
    417, "Files of an encoder are missing, damaged or do not fit: delete its folder, then train it again."
)
CannotExplain = _model(418, "The encoder has nothing to explain with, no facets or spans: name one of another kind.")
NoClassifier = _model(419, "The encoder predicts no labels: train one with a classifier.")
NoThreshold = _model(420, "The encoder has no threshold between two labels: give a number, or use the probabilities.")
OtherParser = _model(
    421, "The installed parser or tagger is not the one of the training: install that one, or train again."
)
BackboneUnfit = _model(422, "A backbone has not the layers or the pooling that the settings need: choose another one.")
NoEncoderForAspect = _model(
    423, "No encoder, or more than one, is for the aspect: name one with --encoder, or train one."
)
WrongRoute = _model(
    424, "The encoder was not trained for this aspect, or for several of them: name one that it was trained for."
)
NotFinite = _model(
    425, "An encoder gives embeddings that are not finite numbers: delete its folder, and train it again."
)
UploadFailed = _model(
    426, "An encoder was not uploaded: its folder is complete; check the network and the account, and upload it again."
)

AnotherProcess = _run(501, "Another process does the same at this moment: wait for it, or end it.")
LockImpossible = _run(
    502, "The file system does not let a folder be locked: correct its permissions, or use another folder."
)
NoGpu = _run(503, 'A GPU is asked for and no worker has one: use "auto", or a cluster that has GPUs.')
NoWorkers = _run(504, "The Dask cluster has no workers: start some, and run the same command.")
NoScheduler = _run(
    505, "A Dask scheduler does not answer or did not start: check its address and logs, and run the same command."
)
TooLittleMemory = _run(
    506, "A worker has less memory than a stage needs: raise its limit, or lower the number of workers."
)
OtherCode = _run(507, "A worker or scheduler has other code or versions: install there what is installed here.")
StoreUnseen = _run(508, "A worker does not see the store, or cannot write to it: put it where all workers find it.")
WorkerLacksModel = _run(509, "A worker lacks a model that its stages read: pull it where the worker runs.")
NoServer = _run(510, "No Prefect server is configured: run `facetflow up`, or set PREFECT_API_URL.")
ServerConfigured = _run(
    511, "A Prefect server is configured already: use `facetflow deploy`, or set PREFECT_API_URL to nothing."
)
ServerSilent = _run(512, "A Prefect server does not answer any more or yet: start it, and run the same command.")
ServerNotStarted = _run(
    513, "A Prefect server of our own did not start: do what the message says, and run the same command."
)
ServerRefused = _run(
    514, "A Prefect server did not do what it was asked to: see the reason in the message and its log."
)
OtherProjectsServer = _run(515, "The server serves another project of this name: give one of them another name.")
SchedulesLost = _run(516, "prefect.yaml would replace the schedules on the server: deploy with `facetflow deploy`.")
ProcessStays = _run(517, "A process of `facetflow up` does not end: end it with kill -9.")
TrainingFailed = _run(518, "A training or an evaluation failed: the message says why, or where its traceback is.")
LossNotFinite = _run(519, 'A training diverged: lower loop.learning_rate, or train in loop.precision "float32".')
RunNotWritten = _run(520, "The file system refused a file of a training: do what the message says, and run again.")
CheckpointDamaged = _run(521, "A checkpoint cannot be read: delete it to train from the start.")
TrainingsApart = _run(
    522, "The processes of one training lost each other: put its folder where all can read it, and start again."
)
ForeignRequest = _run(
    523, "Somebody else's request reached the explorer: open the address that `facetflow explore` has printed."
)
PortTaken = _run(524, "Another program listens at the port: name another one, or leave --port out.")

for _name, _value in list(globals().items()):
    if isinstance(_value, type) and _value.__module__ == __name__:
        _value.__name__ = _value.__qualname__ = _name  # as a traceback shows it, and pickle looks it up
del _name, _value
