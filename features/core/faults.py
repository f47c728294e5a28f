"""Every fault that a user may meet, by code: its cause, then its remedy after the colon.

`docs/reference/errors.md` is made of these lines (`python tools/errors_page.py`); an error's message says which file,
row or name it is about. A new fault takes the next free number of its family; a number is never used for another one.

    FF0xx  of the command line and the system   FF3xx  the store
    FF1xx  files and rows that are read         FF4xx  models and encoders
    FF2xx  settings and the project file        FF5xx  runs, clusters and servers
"""

from features.core.errors import FacetflowError, InputError, ModelError, RunError, SettingsError, StoreError


class Usage(FacetflowError, code="FF001"):
    """A command was called with a wrong option or argument: read its help, `facetflow COMMAND --help`."""


class FileSystem(FacetflowError, code="FF002"):
    """The system refused a file or memory: free space, correct permissions or raise a limit."""


class TextEncoding(FacetflowError, code="FF003"):
    """Text has a byte or character that its encoding lacks: use UTF-8, for files and for the terminal."""


class Unexpected(FacetflowError, code="FF004"):
    """A defect of facetflow, or of a library that it uses: report it with its traceback."""


class FileMissing(InputError, code="FF101"):
    """A path is misspelt, or relative to another folder: correct it, or put the file there."""


class NotAFile(InputError, code="FF102"):
    """A path leads to a folder, pipe or device: name a file."""


class FileUnreadable(InputError, code="FF103"):
    """A file is there but cannot be opened: correct its permissions, or name another."""


class FileEmpty(InputError, code="FF104"):
    """A file has nothing of what it is read for: check that it is complete."""


class NotText(InputError, code="FF105"):
    """A file is not text in UTF-8, or has null bytes: save it as UTF-8."""


class GzipWrong(InputError, code="FF106"):
    """A file is compressed unexpectedly, or was cut off: decompress it, or fetch it again."""


class FileTooLong(InputError, code="FF107"):
    """A line, or a decompressed file, is longer than any text: check that it is text in lines."""


class UnknownFormat(InputError, code="FF108"):
    """The suffix of a file does not tell its format: use one in the message, or `--format`."""


class UnknownForm(InputError, code="FF109"):
    """The content of a file has a wrong form: compare it with what is expected."""


class ColumnMissing(InputError, code="FF110"):
    """A table lacks a column: name those that it has, or add it."""


class ColumnTwice(InputError, code="FF111"):
    """A table has two columns of one name: keep one, and rename the others."""


class ColumnsUnclear(InputError, code="FF112"):
    """The columns given for two sentences do not name two columns: give two that the table has."""


class CellNeverEnds(InputError, code="FF113"):
    """A double quote opens a cell that nothing closes: close or double it, or set how `quotes` are read."""


class CellNotWritable(InputError, code="FF114"):
    """A value has no place in the format of the output: write .jsonl or .parquet."""


class OutputRefused(InputError, code="FF115"):
    """An output cannot be written there: name a folder that exists and is writable."""


class OutputOverwrites(InputError, code="FF116"):
    """An output would overwrite an input or another output: give it a file of its own."""


class RowWrong(InputError, code="FF117"):
    """A file that must be right as a whole has a wrong row: correct it."""


class NotParallel(InputError, code="FF118"):
    """Parallel files differ in length or content: give files with one line or block a pair."""


class IdsDiffer(InputError, code="FF119"):
    """Graphs of two files cannot be paired by their ids: give unique ids, the same on both sides."""


class SplitUnclear(InputError, code="FF120"):
    """Nothing says which row is in which split: give files for each split."""


class NotPenman(InputError, code="FF121"):
    """A graph is not valid PENMAN: correct it at the line and column of the message."""


class GraphUnusable(InputError, code="FF122"):
    """A graph is valid but cannot be compared: mend what the message names."""


class NotTexts(InputError, code="FF123"):
    """Something else was given where texts are needed: give strings, or pairs of strings."""


class EmptyText(InputError, code="FF124"):
    """A text is empty: leave it out, or give one."""


class CannotPair(InputError, code="FF125"):
    """The two sides differ in number, or a pair is not there: give as many on both."""


class TooFewTexts(InputError, code="FF126"):
    """There are fewer texts or graphs than the task needs: give more."""


class MetricFileWrong(InputError, code="FF127"):
    """A file of own metrics cannot be run, or has no metric: mend it, and check its path."""


class MetricWrong(InputError, code="FF128"):
    """An own metric returned what it must not: mend it, or declare it as it is."""


class VectorsWrong(InputError, code="FF129"):
    """Vectors do not fit their words, one another or the encoder: make all of them with one model."""


class GraphIndexWrong(InputError, code="FF130"):
    """The index of sentences is missing or damaged: build it from the graph files again."""


class NoTrainingData(InputError, code="FF131"):
    """The splits have nothing that an encoder learns from: name other splits, or corpora that have it."""


class NothingToScore(InputError, code="FF132"):
    """The data have nothing to score: choose another split, or give human scores or labels."""


class NothingToLearn(InputError, code="FF133"):
    """All examples have the same label, or too few have another: vary the data, or leave the aspect out."""


class SplitsOverlap(InputError, code="FF134"):
    """The same data are in two splits: give each split files of its own."""


class ReleaseLacks(InputError, code="FF135"):
    """A release has not what an encoder reads: build it with that stage, or name corpora that have it."""


class SeveralParsers(InputError, code="FF136"):
    """The data were made by several parsers: build again with one."""


class OtherText(InputError, code="FF137"):
    """Frames belong to another text, or to another version of it: tag the sentences again."""


class ScoredDifferently(InputError, code="FF138"):
    """Scores were taken on different data and cannot be compared: evaluate runs of one release on one split."""


class NotEvaluated(InputError, code="FF139"):
    """There are no scores yet: run `facetflow evaluate`."""


class EvaluationDamaged(InputError, code="FF140"):
    """Files of an evaluation are damaged, or of another version: run `facetflow evaluate` again."""


class UnknownTexts(InputError, code="FF141"):
    """What is to be searched is no file and no corpus with texts: name one."""


class RecordUnreadable(InputError, code="FF142"):
    """A file that an earlier step wrote cannot be read: run that step again."""


class FileChanged(InputError, code="FF143"):
    """A file was changed while it was read: run again when it is complete, or read a copy."""


class NoProjectFile(SettingsError, code="FF201"):
    """No project file is there, or it cannot be read: name it with `--project`, or run `facetflow new`."""


class NotToml(SettingsError, code="FF202"):
    """The project file is not TOML in UTF-8: mend the line that the message shows."""


class UnknownKey(SettingsError, code="FF203"):
    """A key of the project file is unknown: correct its name, or move it to its section."""


class MissingKey(SettingsError, code="FF204"):
    """A key of the project file is missing: add it."""


class WrongValue(SettingsError, code="FF205"):
    """A value has the wrong type or is out of range: give what the message says."""


class SeveralFaults(SettingsError, code="FF206"):
    """Several keys of the project file are wrong: mend each line of the message."""


class EmptySetting(SettingsError, code="FF207"):
    """A setting is empty and so has no effect: give a value, or leave it out."""


class Conflict(SettingsError, code="FF208"):
    """Two settings contradict each other, or one is useless beside the other: leave one out."""


class RepeatedValue(SettingsError, code="FF209"):
    """A list has a value twice: give each once."""


class NameTaken(SettingsError, code="FF210"):
    """Two things have the same name: rename one of them."""


class NameNotAllowed(SettingsError, code="FF211"):
    """A name has wrong characters, or a meaning of its own: use letters, digits, - and _."""


class UnknownName(SettingsError, code="FF212"):
    """Nothing of that kind has this name: use one in the message."""


class UnknownMetric(SettingsError, code="FF213"):
    """There is no such metric, or it cannot be used here: use one in the message."""


class UnknownLabel(SettingsError, code="FF214"):
    """No pair or text has this label or aspect: use one in the message."""


class UnknownEncoder(SettingsError, code="FF215"):
    """The project file has no encoder of this name: correct the name, or add a section [[encoders]]."""


class OutOfRange(SettingsError, code="FF216"):
    """A number is outside the range that makes sense: give one within it."""


class DeviceMissing(SettingsError, code="FF217"):
    """The device asked for is not there: use "auto" or "cpu", or a machine with a GPU."""


class MetricSettings(SettingsError, code="FF218"):
    """An own metric is declared with what does not fit, or is not built: correct its @own_metric(…)."""


class ScheduleWrong(SettingsError, code="FF219"):
    """A schedule is no cron expression, or never comes: write five fields, such as "0 2 * * *"."""


class StageOff(SettingsError, code="FF220"):
    """A stage reads what another one makes, which is switched off: enable both or neither."""


class PlanWrong(SettingsError, code="FF221"):
    """A recipe holds what is not JSON: give numbers, texts, lists and tables."""


class JobWrong(SettingsError, code="FF222"):
    """The file of a training or an evaluation is not a job: run `facetflow train` or `evaluate` again."""


class PathTaken(SettingsError, code="FF223"):
    """Something is already where a file is to be made: choose another folder, or rename what is there."""


class Unencrypted(SettingsError, code="FF224"):
    """The connections to a Dask cluster are not encrypted: use a tls:// address and certificates."""


class CertificatesWrong(SettingsError, code="FF225"):
    """Certificates for a Dask cluster are missing or do not match: name PEM files that belong together."""


class OtherSettings(SettingsError, code="FF226"):
    """A folder holds the result of other settings, data or another version: choose another, or delete it."""


class NoStore(StoreError, code="FF301"):
    """The folder holds no store: check its path, or make the store with `facetflow build`."""


class NotAStore(StoreError, code="FF302"):
    """The folder holds files of something else: give an empty or a new folder."""


class StorePathWrong(StoreError, code="FF303"):
    """A store cannot be there: give a folder that all workers share, without % or backslash, or `s3://bucket/prefix`."""


class StoreVersion(StoreError, code="FF304"):
    """The store was made by another version of facetflow: name another folder and build anew."""


class StoreUnreachable(StoreError, code="FF305"):
    """The file system refused to read or write the store: do what the message says."""


class StoreDamaged(StoreError, code="FF306"):
    """Files of the store are not as facetflow left them: use `facetflow build --deep`, a backup or a new store."""


class TableFileDamaged(StoreError, code="FF307"):
    """A file of a table is damaged or lost: `facetflow build --deep` makes it again."""


class OtherProjectsStore(StoreError, code="FF308"):
    """The store belongs to another project: name another folder, or take it over with `build --adopt`."""


class UnknownTable(StoreError, code="FF309"):
    """The store or release has no such table, column or stage: use one in the message."""


class UnknownShard(StoreError, code="FF310"):
    """A shard is not in the store, or lacks one that it needs: copy or build the store again."""


class RowsWrong(StoreError, code="FF311"):
    """The rows of a shard do not fit their table: mend the stage, which has a defect."""


class RowsLost(StoreError, code="FF312"):
    """Rows went into a stage and did not come out once: mend the stage, which has a defect."""


class CommitRefused(StoreError, code="FF313"):
    """A shard is not what its receipt says: plan and run the shard again."""


class WrittenByAnother(StoreError, code="FF314"):
    """Another process wrote to the store at the same time: let one build run at a time."""


class NotComplete(StoreError, code="FF315"):
    """Shards are missing, so nothing can be published: see whether some failed, and build."""


class NothingToPublish(StoreError, code="FF316"):
    """The store holds no sentences: name corpora that have rows, and build."""


class TooManyRejects(StoreError, code="FF317"):
    """A stage rejected more rows than `limits` allows: see `facetflow rejects`, or raise the limit."""


class NoRelease(StoreError, code="FF318"):
    """There is no such release: build first, or name one that there is."""


class ReleaseKept(StoreError, code="FF319"):
    """The newest release is never removed: name an older one."""


class ReleaseCountWrong(StoreError, code="FF320"):
    """A release has another number of rows than it was published with: restore the table, or publish again."""


class CannotRebuild(StoreError, code="FF321"):
    """Damaged files cannot be made again, as their sources changed or are gone: restore these."""


class DamageFound(StoreError, code="FF322"):
    """`facetflow verify` found damage: do what its lines say, mostly `facetflow build --deep`."""


class UnknownModel(ModelError, code="FF401"):
    """No model has this name: use a known name, a folder, or owner/name of the Hub."""


class ModelNotPulled(ModelError, code="FF402"):
    """A model is not on this machine: get it with `facetflow models pull`."""


class ModelDamaged(ModelError, code="FF403"):
    """Files of a model are missing or corrupted: pull or install it again."""


class NotThisModel(ModelError, code="FF404"):
    """A folder holds another kind or format of model: name the right folder."""


class NotAnEncoder(ModelError, code="FF405"):
    """A folder holds no encoder: give the folder of an encoder, or of the run that trained it."""


class LibraryMissing(ModelError, code="FF406"):
    """A library is not installed, or too new: install it as the message says."""


class ModelNotLoaded(ModelError, code="FF407"):
    """A library cannot load a model: check its folder, and that the versions of both match."""


class ModelUnfit(ModelError, code="FF408"):
    """A model has not the component that is needed: give one that has it."""


class DownloadFailed(ModelError, code="FF409"):
    """A model cannot be downloaded: check the network, or give a file that was fetched elsewhere."""


class ArchiveWrong(ModelError, code="FF410"):
    """A downloaded file is damaged, or not the pinned one: download it again."""


class ArchiveUnsafe(ModelError, code="FF411"):
    """An archive would write outside its folder, and nothing was unpacked: fetch it from its true source."""


class GpuFailed(ModelError, code="FF412"):
    """The GPU failed in the middle of its work: run again."""


class NoEncoder(ModelError, code="FF413"):
    """There is no trained encoder here: run `facetflow train`, or name one with `--encoder`."""


class UnknownRun(ModelError, code="FF414"):
    """No encoder or run has this name: use one in the message (`facetflow runs` lists them)."""


class EncoderUnfinished(ModelError, code="FF415"):
    """The training of an encoder has not finished: wait for it, or run `facetflow train`."""


class RunGone(ModelError, code="FF416"):
    """A run was deleted, or a link leads to one that was: restore it, or name another run."""


class EncoderDamaged(ModelError, code="FF417"):
    """Files of an encoder are missing, damaged or do not fit: delete its folder, then train it again."""


class CannotExplain(ModelError, code="FF418"):
    """The encoder has nothing to explain with, no facets or spans: name one of another kind."""


class NoClassifier(ModelError, code="FF419"):
    """The encoder predicts no labels: train one with a classifier."""


class NoThreshold(ModelError, code="FF420"):
    """The encoder has no threshold between two labels: give a number, or use the probabilities."""


class OtherParser(ModelError, code="FF421"):
    """The installed parser or tagger is not the one of the training: install that one, or train again."""


class BackboneUnfit(ModelError, code="FF422"):
    """A backbone has not the layers or the pooling that the settings need: choose another one."""


class NoEncoderForAspect(ModelError, code="FF423"):
    """No encoder, or more than one, is for the aspect: name one with `--encoder`, or train one."""


class WrongRoute(ModelError, code="FF424"):
    """The encoder was not trained for this aspect, or for several: name one that it was trained for."""


class NotFinite(ModelError, code="FF425"):
    """An encoder gives embeddings that are not finite numbers: delete its folder, and train it again."""


class UploadFailed(ModelError, code="FF426"):
    """An encoder was not uploaded: check network and account, and upload its folder again."""


class AnotherProcess(RunError, code="FF501"):
    """Another process does the same at this moment: wait for it, or end it."""


class LockImpossible(RunError, code="FF502"):
    """The file system does not let a folder be locked: correct its permissions, or use another folder."""


class NoGpu(RunError, code="FF503"):
    """A GPU is asked for and no worker has one: use "auto", or a cluster that has GPUs."""


class NoWorkers(RunError, code="FF504"):
    """The Dask cluster has no workers: start some, and run again."""


class NoScheduler(RunError, code="FF505"):
    """A Dask scheduler does not answer or did not start: check its address and logs, and run again."""


class TooLittleMemory(RunError, code="FF506"):
    """A worker has less memory than a stage needs: raise its limit, or lower the number of workers."""


class OtherCode(RunError, code="FF507"):
    """A worker has other code, or an upgrade came meanwhile: install the same, and run again."""


class StoreUnseen(RunError, code="FF508"):
    """A worker does not see the store, or cannot write to it: put it where all workers find it."""


class WorkerLacksModel(RunError, code="FF509"):
    """A worker lacks a model that its stages read: pull it where the worker runs."""


class NoServer(RunError, code="FF510"):
    """No Prefect server is configured: run `facetflow up`, or set PREFECT_API_URL."""


class ServerConfigured(RunError, code="FF511"):
    """A Prefect server is configured already: use `facetflow deploy`, or set PREFECT_API_URL to nothing."""


class ServerSilent(RunError, code="FF512"):
    """A Prefect server does not answer any more or yet: start it, and run again."""


class ServerNotStarted(RunError, code="FF513"):
    """A Prefect server did not start: do what the message says."""


class ServerRefused(RunError, code="FF514"):
    """A Prefect server refused: see the reason in the message and its log."""


class OtherProjectsServer(RunError, code="FF515"):
    """The server serves another project of this name: give one of them another name."""


class PauseEnds(RunError, code="FF516"):
    """prefect.yaml would end the pause of a deployment: deploy with `facetflow deploy`."""


class ProcessStays(RunError, code="FF517"):
    """A process of `facetflow up` does not end: end it with kill -9."""


class TrainingFailed(RunError, code="FF518"):
    """A training or an evaluation failed: the message says why, or where its traceback is."""


class LossNotFinite(RunError, code="FF519"):
    """A training diverged: lower loop.learning_rate, or train in loop.precision "float32"."""


class RunNotWritten(RunError, code="FF520"):
    """The file system refused a file of a training or a server: do what the message says."""


class CheckpointDamaged(RunError, code="FF521"):
    """A checkpoint cannot be read: delete it to train from the start."""


class TrainingsApart(RunError, code="FF522"):
    """The processes of one training lost each other: put its folder where all can read it."""


class ForeignRequest(RunError, code="FF523"):
    """Somebody else's request reached the explorer: open the address that `facetflow explore` has printed."""


class PortTaken(RunError, code="FF524"):
    """Another program listens at the port: name another one, or leave `--port` out."""
