"""Every fault that a user may meet, by code: its cause, then its remedy after the colon.

`docs/reference/errors.md` is made of these lines (`python tools/errors_page.py`); an error's message says which file,
row or name it is about. A new fault takes the number after the last of its family, not that of one which is gone.

    FF0xx  of the command line and the system   FF3xx  the store
    FF1xx  files and rows that are read         FF4xx  models and encoders
    FF2xx  settings and the project file        FF5xx  runs, clusters and servers
"""

from features.core.errors import FacetflowError, InputError, ModelError, RunError, SettingsError, StoreError


class Usage(FacetflowError, code="FF001"):
    """A command has a wrong option or argument: see `facetflow COMMAND --help`."""


class FileSystem(FacetflowError, code="FF002"):
    """The system refused a file or memory: free space, correct permissions or raise a limit."""


class TextEncoding(FacetflowError, code="FF003"):
    """Text does not fit its encoding: use UTF-8, in files and terminal."""


class Unexpected(FacetflowError, code="FF004"):
    """A defect of facetflow, or of a library: report it with its traceback."""


class FileMissing(InputError, code="FF101"):
    """A path is misspelt, or relative to another folder: correct it."""


class NotAFile(InputError, code="FF102"):
    """A path leads to a folder, pipe or device: name a file."""


class FileUnreadable(InputError, code="FF103"):
    """A file cannot be opened: correct its permissions."""


class FileEmpty(InputError, code="FF104"):
    """A file lacks what is read: check that it is complete."""


class NotText(InputError, code="FF105"):
    """A file is not UTF-8 text, or has null bytes: save it as UTF-8."""


class GzipWrong(InputError, code="FF106"):
    """A file is compressed unexpectedly, or cut off: decompress or fetch it again."""


class FileTooLong(InputError, code="FF107"):
    """A line or decompressed file is too long: check that it is text."""


class UnknownFormat(InputError, code="FF108"):
    """A suffix does not tell the format: use one in the message."""


class UnknownForm(InputError, code="FF109"):
    """A file has a wrong form: compare it with what is expected."""


class ColumnMissing(InputError, code="FF110"):
    """A table lacks a column: add it, or name another."""


class ColumnTwice(InputError, code="FF111"):
    """A table has two columns of one name: rename one."""


class ColumnsUnclear(InputError, code="FF112"):
    """The columns given are not two: name two that the table has."""


class CellNeverEnds(InputError, code="FF113"):
    """A double quote opens a cell that nothing closes: close it, or set `quotes`."""


class CellNotWritable(InputError, code="FF114"):
    """A value has no place in the output's format: write .jsonl or .parquet."""


class OutputRefused(InputError, code="FF115"):
    """An output cannot be written: name a folder that exists and is writable."""


class OutputOverwrites(InputError, code="FF116"):
    """An output would overwrite an input or another output: name another."""


class RowWrong(InputError, code="FF117"):
    """A file has a wrong row: correct it."""


class NotParallel(InputError, code="FF118"):
    """Two sides cannot be paired: give as many on both, or the same unique ids."""


class SplitUnclear(InputError, code="FF120"):
    """Nothing says which row is in which split: give each split files."""


class GraphUnusable(InputError, code="FF122"):
    """A graph is not valid PENMAN, or cannot be compared: mend what the message names."""


class NotTexts(InputError, code="FF123"):
    """Texts are needed: give strings, or pairs of strings."""


class EmptyText(InputError, code="FF124"):
    """A text is empty: give one, or leave it out."""


class TooFewTexts(InputError, code="FF126"):
    """There are too few texts or graphs: give more."""


class MetricWrong(InputError, code="FF128"):
    """An own metric cannot be run, or returned what it must not: mend it, its path or its declaration."""


class VectorsWrong(InputError, code="FF129"):
    """Vectors do not fit their words, one another or the encoder: use one model."""


class GraphIndexWrong(InputError, code="FF130"):
    """The index of sentences is missing or damaged: build it again."""


class NoTrainingData(InputError, code="FF131"):
    """The splits have nothing to learn from: name other splits or corpora."""


class NothingToScore(InputError, code="FF132"):
    """The data have nothing to score: choose another split, or give scores or labels."""


class NothingToLearn(InputError, code="FF133"):
    """Too few examples have another label: vary the data, or leave the aspect out."""


class SplitsOverlap(InputError, code="FF134"):
    """The same data are in two splits: give each its own files."""


class ReleaseLacks(InputError, code="FF135"):
    """A release lacks what an encoder reads: build that stage, or name other corpora."""


class SeveralParsers(InputError, code="FF136"):
    """The data were made by several parsers: build again with one."""


class OtherText(InputError, code="FF137"):
    """Frames are of another text: tag the sentences again."""


class ScoredDifferently(InputError, code="FF138"):
    """Scores are of different data: evaluate on one release and split."""


class NoScores(InputError, code="FF139"):
    """Scores are missing, damaged or of another version: run `facetflow evaluate`."""


class UnknownTexts(InputError, code="FF141"):
    """There is no such file, or corpus with texts: name one."""


class RecordUnreadable(InputError, code="FF142"):
    """A file of an earlier step cannot be read: run that step again."""


class FileChanged(InputError, code="FF143"):
    """A file changed while it was read: wait until it is complete, or read a copy."""


class NoProjectFile(SettingsError, code="FF201"):
    """No project file can be read: name it with `--project`, or run `facetflow new`."""


class NotToml(SettingsError, code="FF202"):
    """The project file is not TOML in UTF-8: mend the line shown."""


class UnknownKey(SettingsError, code="FF203"):
    """A key is unknown: correct its name, or its section."""


class MissingKey(SettingsError, code="FF204"):
    """A key is missing: add it."""


class WrongValue(SettingsError, code="FF205"):
    """A value has the wrong type or is out of range: see the message."""


class SeveralFaults(SettingsError, code="FF206"):
    """Several keys are wrong: mend each line of the message."""


class EmptySetting(SettingsError, code="FF207"):
    """A setting is empty: give a value, or leave it out."""


class Conflict(SettingsError, code="FF208"):
    """Two settings contradict each other, or one is useless: leave one out."""


class RepeatedValue(SettingsError, code="FF209"):
    """A list has a value twice: give each once."""


class NameTaken(SettingsError, code="FF210"):
    """Two things have the same name: rename one."""


class NameNotAllowed(SettingsError, code="FF211"):
    """A name has wrong characters, or a meaning of its own: use letters, digits, - and _."""


class UnknownName(SettingsError, code="FF212"):
    """Nothing of that kind has this name: use one in the message."""


class DeviceMissing(SettingsError, code="FF217"):
    """The device is not there: use "auto", "cpu" or another machine."""


class ScheduleWrong(SettingsError, code="FF219"):
    """A schedule is no cron expression, or never comes: write five fields, such as "0 2 * * *"."""


class JobWrong(SettingsError, code="FF222"):
    """A file is not a job: run `facetflow train` or `evaluate` again."""


class PathTaken(SettingsError, code="FF223"):
    """A file to be made is already there: choose another folder, or rename it."""


class Unencrypted(SettingsError, code="FF224"):
    """Connections to a Dask cluster are not encrypted: use a tls:// address and certificates."""


class CertificatesWrong(SettingsError, code="FF225"):
    """A cluster's certificates are missing or do not match: name PEM files that belong together."""


class OtherSettings(SettingsError, code="FF226"):
    """A folder has results of other settings, data or versions: choose another, or delete it."""


class NoStore(StoreError, code="FF301"):
    """The folder holds no store: check its path, or run `facetflow build`."""


class NotAStore(StoreError, code="FF302"):
    """The folder holds something else: give an empty or a new one."""


class StorePathWrong(StoreError, code="FF303"):
    """A store cannot be there: give a folder that all workers share, without % or backslash, or `s3://bucket/prefix`."""


class StoreVersion(StoreError, code="FF304"):
    """The store is of another version: build anew in another folder."""


class StoreUnreachable(StoreError, code="FF305"):
    """The file system refused the store: do what the message says."""


class StoreDamaged(StoreError, code="FF306"):
    """Files of the store are damaged: use `facetflow build --deep`, a backup or a new store."""


class TableFileDamaged(StoreError, code="FF307"):
    """A file of a table is damaged or lost: run `facetflow build --deep`."""


class OtherProjectsStore(StoreError, code="FF308"):
    """The store is another project's: name another folder, or run `build --adopt`."""


class UnknownTable(StoreError, AttributeError, code="FF309"):  # so that `hasattr` of a feature store says no
    """There is no such table, column or stage: use one in the message."""


class UnknownShard(StoreError, code="FF310"):
    """A shard is missing: copy or build the store again."""


class RowsWrong(StoreError, code="FF311"):
    """Rows of a shard do not fit their table, or were lost or repeated: mend the stage."""


class CommitRefused(StoreError, code="FF313"):
    """A shard is not what its receipt says: make it again."""


class WrittenByAnother(StoreError, code="FF314"):
    """Another process wrote to the store: run one build at a time."""


class NotComplete(StoreError, code="FF315"):
    """Shards are missing: see whether some failed, and build."""


class NothingToPublish(StoreError, code="FF316"):
    """The store holds no sentences: name corpora that have rows, and build."""


class TooManyRejects(StoreError, code="FF317"):
    """A stage rejected more rows than `limits` allows: see `facetflow rejects`, or raise the limit."""


class NoRelease(StoreError, code="FF318"):
    """There is no such release: build first, or name another."""


class ReleaseKept(StoreError, code="FF319"):
    """The newest release is never removed: name an older one."""


class ReleaseCountWrong(StoreError, code="FF320"):
    """A release has another number of rows than published: restore the table, or publish again."""


class CannotRebuild(StoreError, code="FF321"):
    """The sources of damaged files changed or are gone: restore them."""


class DamageFound(StoreError, code="FF322"):
    """`facetflow verify` found damage: do what its lines say."""


class UnknownModel(ModelError, code="FF401"):
    """No model has this name: use a known name, a folder, or owner/name of the Hub."""


class ModelNotPulled(ModelError, code="FF402"):
    """A model is not on this machine: run `facetflow models pull`."""


class ModelDamaged(ModelError, code="FF403"):
    """A model's files are missing, damaged or not the pinned ones: pull or install it again."""


class NotThisModel(ModelError, code="FF404"):
    """A folder holds another kind of model, or none: name the right one."""


class LibraryMissing(ModelError, code="FF406"):
    """A library is missing or too new: install it as the message says."""


class ModelNotLoaded(ModelError, code="FF407"):
    """A library cannot load a model: check its folder and the versions."""


class ModelUnfit(ModelError, code="FF408"):
    """A model lacks a part that is needed, or has one that does not fit: give another."""


class DownloadFailed(ModelError, code="FF409"):
    """A model cannot be downloaded: check the network, or give a file."""


class ArchiveUnsafe(ModelError, code="FF411"):
    """An archive would write outside its folder; nothing was unpacked: fetch it from its true source."""


class GpuFailed(ModelError, code="FF412"):
    """The GPU failed: run again."""


class NoEncoder(ModelError, code="FF413"):
    """There is no trained encoder: run `facetflow train`, or name one with `--encoder`."""


class UnknownRun(ModelError, code="FF414"):
    """No encoder or run has this name: use one in the message."""


class EncoderUnfinished(ModelError, code="FF415"):
    """A training has not finished: wait, or run `facetflow train`."""


class RunGone(ModelError, code="FF416"):
    """A run was deleted, or a link leads to one: restore it, or name another."""


class EncoderDamaged(ModelError, code="FF417"):
    """An encoder lacks files, or is damaged: delete its folder, and train it again."""


class CannotExplain(ModelError, code="FF418"):
    """The encoder has no facets or spans to explain with: name another."""


class NoClassifier(ModelError, code="FF419"):
    """The encoder predicts no labels: train one with a classifier."""


class NoThreshold(ModelError, code="FF420"):
    """The encoder has no threshold: give a number, or use the probabilities."""


class OtherParser(ModelError, code="FF421"):
    """The parser or tagger differs from the training's: install that one, or train again."""


class NoEncoderForAspect(ModelError, code="FF423"):
    """No encoder, or several, are for the aspect: name one with `--encoder`, or train one."""


class WrongRoute(ModelError, code="FF424"):
    """The encoder was not trained for the aspect, or for several: name one of its own."""


class UploadFailed(ModelError, code="FF426"):
    """An upload failed: check network and account, and upload the folder again."""


class AnotherProcess(RunError, code="FF501"):
    """Another process does the same: wait for it, or end it."""


class LockImpossible(RunError, code="FF502"):
    """The file system cannot lock a folder: correct its permissions, or use another."""


class NoGpu(RunError, code="FF503"):
    """No worker has a GPU: use "auto", or a cluster with GPUs."""


class NoWorkers(RunError, code="FF504"):
    """The Dask cluster has no workers: start some, and run again."""


class NoScheduler(RunError, code="FF505"):
    """A Dask scheduler does not answer: check its address and logs, and run again."""


class TooLittleMemory(RunError, code="FF506"):
    """A worker has less memory than a stage needs: raise its limit, or use fewer workers."""


class OtherCode(RunError, code="FF507"):
    """A worker has other code, or an upgrade came meanwhile: install the same, and run again."""


class StoreUnseen(RunError, code="FF508"):
    """A worker cannot see or write the store: put it where all workers find it."""


class WorkerLacksModel(RunError, code="FF509"):
    """A worker lacks a model: pull it where the worker runs."""


class NoServer(RunError, code="FF510"):
    """No Prefect server is configured: run `facetflow up`, or set PREFECT_API_URL."""


class ServerConfigured(RunError, code="FF511"):
    """A Prefect server is configured already: use `facetflow deploy`, or set PREFECT_API_URL to nothing."""


class ServerSilent(RunError, code="FF512"):
    """A Prefect server does not answer: start it, and run again."""


class ServerNotStarted(RunError, code="FF513"):
    """A Prefect server did not start: do what the message says."""


class ServerRefused(RunError, code="FF514"):
    """A Prefect server refused: see the message and the server's log."""


class OtherProjectsServer(RunError, code="FF515"):
    """The server has another project of this name: rename one."""


class PauseEnds(RunError, code="FF516"):
    """prefect.yaml would end the pause of a deployment: deploy with `facetflow deploy`."""


class ProcessStays(RunError, code="FF517"):
    """A process of `facetflow up` does not end: use kill -9."""


class TrainingFailed(RunError, code="FF518"):
    """A training or an evaluation failed: see the message or the traceback."""


class LossNotFinite(RunError, code="FF519"):
    """A training diverged: lower loop.learning_rate, or set loop.precision to "float32"."""


class RunNotWritten(RunError, code="FF520"):
    """A file of a training or a server cannot be written: do what the message says."""


class CheckpointDamaged(RunError, code="FF521"):
    """A checkpoint cannot be read: delete it to train from the start."""


class TrainingsApart(RunError, code="FF522"):
    """Processes of a training lost each other: put its folder where all can read it."""


class ForeignRequest(RunError, code="FF523"):
    """Somebody else's request reached the explorer: open the address that it printed."""


class PortTaken(RunError, code="FF524"):
    """Another program listens at the port: name another, or leave `--port` out."""
