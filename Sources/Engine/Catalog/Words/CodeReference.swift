import Captures
import Core

/// What makes a warning go away.
enum Cure: String, Sendable, Encodable, CaseIterable {
  /// Another copy of what the device has. While a capture has such a warning, it is not called safe to delete there.
  case copy
  /// A parameter, or a file that one names.
  case parameter
  /// A change of the capture's folder.
  case files
  /// Nothing: it tells how the capture was recorded.
  case none
}

/// The explanation of a code: three or more sentences.
struct CodeWords: Sendable {
  var meaning: String
  var data: String
  var remedy: String
  var cure: Cure

  init(_ meaning: String, data: String, remedy: String, cure: Cure = .none) {
    self.meaning = meaning
    self.data = data
    self.remedy = remedy
    self.cure = cure
  }
}

/// Explains the codes of warnings, causes, failures, states and reasons: meaning, effect on the data, and
/// what to do. Used by `explain CODE`, pages and texts.
public struct CodeReference: Sendable {
  public enum Kind: String, Sendable, CaseIterable, Encodable {
    case warning, cause, failure, reason, state, word
    case leftOut = "left-out"
  }

  public struct Entry: Sendable, Encodable, Hashable {
    public var schema = 1
    public var code: String
    public var kind: Kind
    public var meaning: String
    /// Effect on the data.
    public var data: String
    public var remedy: String
    /// Cure of a warning.
    var cure: Cure?

    public var text: String { "\(code) (\(kind.rawValue))\n  \(meaning)\n  \(data)\n  \(remedy)" }

    /// A word that another table than those of this type explains.
    package init(word: String, meaning: String, data: String, remedy: String) {
      self.init(word, .word, CodeWords(meaning, data: data, remedy: remedy))
    }

    init(_ code: String, _ kind: Kind, _ words: CodeWords) {
      self.code = code
      self.kind = kind
      (meaning, data, remedy) = (words.meaning, words.data, words.remedy)
      guard kind == .warning else { return }
      cure = words.cure
      if words.cure == .none { remedy += " The warning stays." }
    }
  }

  /// Warnings in the order of their list, then causes, what exactly failed, reasons, states, reasons for skipped
  /// frames of exports, and terms.
  public static let entries: [Entry] =
    WarningCode.allCases.map { Entry($0.rawValue, .warning, $0.words) }
    + FailureCause.allCases.map { Entry($0.rawValue, .cause, $0.words) }
    + FailureDetail.Code.allCases.map { Entry($0.rawValue, .failure, $0.words) }
    + Reason.allCases.map { Entry($0.rawValue, .reason, $0.words) }
    + (states + stageStates).map { Entry($0.state, .state, $0.words) }
    + leftOut.map { Entry($0.code, .leftOut, $0.words) }
    + terms.map { Entry($0.word, .word, $0.words) }

  private static let byCode = Dictionary(firstOf: entries.map { ($0.code, $0) })

  public static subscript(code: String) -> Entry? { byCode[spellings[code] ?? code] }
}

extension FailureCause {
  fileprivate var words: CodeWords {
    switch self {
    case .input:
      CodeWords(
        "What the capture's own files hold cannot be used: it is damaged, lacks something, or is of a kind that is not supported; or a parameter does not fit it.",
        data: "What needs the file is not made; everything else of the capture is.",
        remedy:
          "Trying again cannot help. Copy the capture from the device again, unless the message says what helps instead; `scanmill inspect` names the file and the place."
      )
    case .permission:
      CodeWords(
        "A file or folder of the capture is there, but the user that scanmill runs as may not read it.",
        data: "What needs the file is not made. The capture itself is not harmed.",
        remedy:
          "Give that user the right to read it: the message names the file, its mode and owner, the user, and the command. A watcher tries again when the permissions change."
      )
    case .program:
      CodeWords(
        "A stage failed for a reason other than its input: it crashed, exceeded its time or memory limit, a program of a `command` stage failed, or something that scanmill did not make is in the place of its results.",
        data: "The results of this stage are missing. The capture itself is not harmed.",
        remedy:
          "Read the message and the log that the summary names. Raise `timeout` or `--memory` if a limit was reached, run fewer captures at a time if the system killed it, move away what is in its place; report a crash of scanmill itself."
      )
    case .machine:
      CodeWords(
        "Something outside the program failed: the disk is full, input or output is not reachable, a device reported an error, or another run holds a lock.",
        data: "No result was lost; the capture waits as it is.",
        remedy:
          "Free space or bring the device back, then run the same command again: it continues where it stopped."
      )
    }
  }
}

extension FailureDetail.Code {
  fileprivate var words: CodeWords {
    let notMade = "The results of this stage are missing. The capture itself is not harmed."
    let waits = "No result was lost; the capture waits as it is."
    return switch self {
    case .damaged:
      CodeWords(
        "The content of a file of the capture cannot be read.",
        data: "What needs the file is not made; everything else of the capture is.",
        remedy:
          "Do what the message says in brackets; if it says nothing, copy the file again. Of a capture that is one file copy that file: nothing can be copied into it."
      )
    case .unlikeTheApp:
      CodeWords(
        "A file of the capture is not as the app writes it: it lacks a column or a key, or holds what the app never writes.",
        data: "What needs the file is not made; everything else of the capture is.",
        remedy: "Do what the message says in brackets. Another copy of the same file does not help."
      )
    case .unsuitable:
      CodeWords(
        "A parameter, or the file that it names, does not fit the capture.", data: notMade,
        remedy:
          "The message says which one. `--set STAGE.PARAMETER=default` takes it back, which leaving it out does not: what an earlier run set holds. Or give one that fits."
      )
    case .strict:
      CodeWords(
        "The capture has warnings, and --strict counts them as failures.",
        data: "Everything was made.",
        remedy:
          "`scanmill explain CODE` says what helps against each warning. Without --strict they are accepted."
      )
    case .noPermission:
      CodeWords(
        "The user that scanmill runs as may not read a file or folder of the capture.",
        data: notMade, remedy: "The message has the command that gives the right.")
    case .diskFull:
      CodeWords(
        "The disk of the output is full, or a quota is used up.", data: waits,
        remedy: "Free some space. `scanmill clean` lists what can go.")
    case .notWritable:
      CodeWords(
        "The output may not be written: its rights, a disk that is read-only, or something else in its place.",
        data: waits, remedy: "Make the folder writable again, or choose another --output.")
    case .outputGone:
      CodeWords(
        "The output folder was removed, moved or replaced, or its disk is gone.", data: waits,
        remedy: "Put it back in its place, and run the same command again.")
    case .inputGone:
      CodeWords(
        "The files of the capture are not there, or no longer.", data: waits,
        remedy: "Bring back their disk or network, or copy the capture again.")
    case .inputChanged:
      CodeWords(
        "A file of the capture changed, or was cut short, while it was read.", data: waits,
        remedy: "Wait until the upload has ended, and run again.")
    case .deviceError:
      CodeWords(
        "A disk or a network reported an error or did not answer.", data: waits,
        remedy: "Bring it back, or check it; the system's log says more.")
    case .inUse:
      CodeWords(
        "A file was in use by another program.", data: waits,
        remedy: "Run again; if it stays so, end the program that uses it.")
    case .shortage:
      CodeWords(
        "Threads, processes, file descriptors or memory are used up.", data: waits,
        remedy:
          "Raise the limit that the message names, or run fewer captures at a time with --jobs.")
    case .addressSpace:
      CodeWords(
        "A process ended without memory, and its address space is limited (`ulimit -v`).",
        data: waits, remedy: "Raise the limit, or run fewer captures at a time with --jobs.")
    case .killed:
      CodeWords(
        "A process was ended by SIGKILL, most likely by the kernel, for want of memory.",
        data: notMade,
        remedy:
          "Run fewer captures at a time with --jobs, or lower --memory so that each claims less. The kernel's log (`dmesg`) says whether memory was the reason."
      )
    case .terminated:
      CodeWords(
        "A process was ended from outside by a signal that asks for it, such as SIGTERM.",
        data: notMade, remedy: "Run again. If it happens again, find out who ends it.")
    case .crashed:
      CodeWords(
        "A program of a stage crashed: a signal such as SIGSEGV or SIGABRT ended it.",
        data: notMade,
        remedy: "Read the log, which has its last lines.")
    case .outOfMemory:
      CodeWords(
        "A process used more memory than it may.", data: notMade,
        remedy: "Raise --memory, or run fewer captures at a time with --jobs.")
    case .outOfTime:
      CodeWords(
        "A stage took longer than its time limit.", data: notMade,
        remedy: "Raise its `timeout` if the capture is long; otherwise read the log.")
    case .stalled:
      CodeWords(
        "A stage showed no progress for the time given by --stall, and was stopped.",
        data: notMade,
        remedy: "Raise --stall if a disk or a program is slow; otherwise read the log.")
    case .hung:
      CodeWords(
        "A worker made no progress and was killed.", data: notMade,
        remedy: "Report it with the worker's log, which says where its threads stood.")
    case .programFailed:
      CodeWords(
        "A program of a `command` stage ended with an exit code other than 0.", data: notMade,
        remedy: "Read the log: the last lines of the program are in it.")
    case .noProgram:
      CodeWords(
        "A program, or a library that it needs, cannot be found or started.", data: notMade,
        remedy: "Install it, or correct `command` of the stage.")
    case .notOurs:
      CodeWords(
        "Something that scanmill did not make is in the place of a result.",
        data: "Nothing of it is touched, and nothing is written there.",
        remedy: "Move it away, or choose another --output, and run again.")
    case .unpublishable:
      CodeWords(
        "What a program of a `command` stage has left cannot be published.", data: notMade,
        remedy: "The message says what is wrong with it: correct the program.")
    case .internalError:
      CodeWords(
        "scanmill contradicted itself, or a process of it crashed.", data: notMade,
        remedy: "This is a mistake of scanmill: report it with the message and the log.")
    }
  }
}

extension Reason {
  fileprivate var words: CodeWords {
    switch self {
    case .forced:
      CodeWords(
        "The stage runs because -R or -F names it.",
        data: "What is published is replaced when the stage has succeeded.",
        remedy: "Leave out the option to run only what is not up to date.")
    case .neverBuilt:
      CodeWords(
        "Nothing is published for this stage: it was not made yet, or its folder was removed.",
        data: "Its results are missing.",
        remedy: "Nothing to do: `scanmill run` builds it.")
    case .outputsMissing:
      CodeWords(
        "Files that the artifact's record lists no longer exist.",
        data: "The artifact is incomplete.",
        remedy:
          "Nothing to do: the next run makes them again. Do not delete files inside an artifact; use `scanmill clean`."
      )
    case .outputsAltered:
      CodeWords(
        "Files of the artifact, or its record, are not as they were when it was published.",
        data: "What is there may not be what the stage made.",
        remedy:
          "The next run makes it again. Keep your own changes outside the output folder.")
    case .stageVersion:
      CodeWords(
        "The stage, or a library that determines its output, has a different version from the one that made the artifact.",
        data: "What is published was made by the old version.",
        remedy:
          "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` shows old and new versions."
      )
    case .parameters:
      CodeWords(
        "A parameter has a different value from when the artifact was made.",
        data: "What is published was made with the old value.",
        remedy:
          "`scanmill explain CAPTURE STAGE` shows old and new values. Give the old value with --set to keep the artifact."
      )
    case .inputChanged:
      CodeWords(
        "The content of a file of the capture, or of a file that a parameter names, has changed.",
        data: "What is published was made from the old content.",
        remedy:
          "Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` names the file."
      )
    case .inputRebuilt:
      CodeWords(
        "A stage that this one reads from was made again, with different content.",
        data: "What is published was made from the old content.",
        remedy: "Nothing to do: the next run makes it again.")
    }
  }
}

extension CodeReference {
  /// Why an export leaves out a frame, by the codes of `leftOut` in `export.json`.
  static let leftOut: [(code: String, words: CodeWords)] = [
    (
      "no-picture",
      CodeWords(
        "The export left out these frames because they have no color picture.",
        data: "The format needs a picture for every frame that it lists.",
        remedy: "`tables/frames.csv` lists the frames without color; warnings say why it is absent."
      )
    ),
    (
      "other-size",
      CodeWords(
        "The export left out these frames because their pictures have another size than the rest.",
        data: "The format has one picture size for all frames.",
        remedy: "Use the pictures in `color/`, which are complete, or another format.")
    ),
    (
      "no-depth",
      CodeWords(
        "The export left out these frames because they have no depth picture.",
        data: "The format pairs every color picture with one of depth.",
        remedy: "`tables/frames.csv` lists the frames without depth; warnings say why it is absent."
      )
    ),
    (
      "no-pose",
      CodeWords(
        "The export left out these frames because they have no camera pose.",
        data: "Tracking was lost or had not begun; a pose is never made up.",
        remedy: "There is nothing to do, unless `tables/poses.csv` is empty: then see the warnings."
      )
    ),
    (
      "no-intrinsics",
      CodeWords(
        "The export left out these frames because no intrinsics are known for them.",
        data: "Intrinsics that nobody measured are never written.",
        remedy:
          "Name a calibration with `--set STAGE.calibration=FILE` where the stage has that parameter."
      )
    ),
    (
      "no-time",
      CodeWords(
        "The export left out these frames because they have no time.",
        data: "The format names or sorts frames by time.",
        remedy: "Use a format that numbers its frames, such as nerfstudio or colmap.")
    ),
    (
      "time-not-increasing",
      CodeWords(
        "The export left out these frames because their time is not later than that of the frame before.",
        data: "In a format keyed by time the second of two equal times would replace the first.",
        remedy: "Use a format that numbers its frames, such as nerfstudio or colmap.")
    ),
    (
      "outside-imu",
      CodeWords(
        "The export left out these frames because no inertial samples surround them, or none lies between them and the picture before.",
        data:
          "A visual-inertial program needs samples before and after every picture, and between two pictures.",
        remedy:
          "There is nothing to do at the ends of a recording. Within it, look for `imu-gap`. Where samples are about as frequent as pictures, some pictures have none between them: that is expected."
      )
    ),
    (
      "no-position",
      CodeWords(
        "The export left out these frames because no position was recorded at them.",
        data: "Phones get a fix about every second, and some apps one for the whole recording.",
        remedy: "There is nothing to do: positions are not made up for them.")
    ),
    (
      "not-selected",
      CodeWords(
        "The export left out these frames because its parameters do not select them.",
        data: "`every`, `first`, `last`, `count` and `pick` choose frames.",
        remedy: "`scanmill list parameters exports` lists these parameters.")
    ),
    (
      "not-in-format",
      CodeWords(
        "The export has no frames because its format has none: it draws a track, say.",
        data: "Everything that the format has room for is there.",
        remedy: "There is nothing to do. For something per frame take another format.")
    ),
  ]
}

extension CodeReference {
  /// The states and outcomes of one stage, except those that have the name of a capture's state.
  static let stageStates: [(state: String, words: CodeWords)] = [
    (
      "missing",
      CodeWords(
        "The stage has not been run for this capture yet.",
        data: "Its results are not there.", remedy: "Run the same `scanmill run` command again.")
    ),
    (
      "obstructed",
      CodeWords(
        "A folder without a record that scanmill wrote, or something else that it did not make, is in the place of the stage's results.",
        data: "Nothing in it is touched, and the stage cannot be made.",
        remedy:
          "Move the folder away, or choose another --output, and run again. `scanmill clean` does not remove what scanmill did not make."
      )
    ),
    (
      "stale",
      CodeWords(
        "The results of the stage were made from different input files, with different parameters, or by a different version.",
        data:
          "They are still there and consistent with each other, but a run would produce something else now.",
        remedy:
          "Run again; `scanmill explain CAPTURE STAGE --output DIR` says what differs.")
    ),
    (
      "not-applicable",
      CodeWords(
        "The capture has nothing for this stage: no depth, no motion sensors, no poses. Or the parameters leave no frame.",
        data: "There is no folder for this stage. Nothing is lost, and this is not a failure.",
        remedy:
          "There is nothing to do. If the capture should have it, `scanmill inspect` says what was found."
      )
    ),
    (
      "not-requested",
      CodeWords(
        "Nobody asked for the stage: the last run was about other stages, and no result of it is published.",
        data: "There is no folder for this stage. It counts nowhere, and nothing waits for it.",
        remedy:
          "There is nothing to do. To have it made, run again and name it: `--until STAGE`, or `--export NAME`."
      )
    ),
    (
      "up-to-date",
      CodeWords(
        "The results of the stage are what a run would produce now.",
        data: "They were left as they are.",
        remedy: "There is nothing to do. `-R STAGE` runs it anyway.")
    ),
    (
      "made",
      CodeWords(
        "The stage was run and its results were published.", data: "The data can be used.",
        remedy: "There is nothing to do.")
    ),
    (
      "not-possible",
      CodeWords(
        "The capture has nothing for the stage, or for all that the run named: no poses, no depth, no motion sensors. Or the parameters leave no frame.",
        data: "Nothing is lost, and this is not a failure. What is possible besides is made.",
        remedy:
          "There is nothing to do. If the capture should have it, `scanmill inspect` says what was found; a parameter that leaves nothing is named in the reason."
      )
    ),
    (
      "missing-files",
      CodeWords(
        "Files that this app always writes are missing, and the capture was processed without them.",
        data: "Results that need them do not exist.",
        remedy:
          "Copy them from the device. If the device has no more, mark the capture done-as-is.")
    ),
    (
      "altered-files",
      CodeWords(
        "By the notes of the upload server, files are others than those on the device: another size or content than it compared, or received damaged.",
        data: "Results are of the files as they are here.",
        remedy:
          "Send the capture from the device again. If its files were changed on purpose, mark the capture done-as-is."
      )
    ),
    (
      "locks-not-shared",
      CodeWords(
        "The file system of the output does not share locks between machines. Two runs worked on the same capture at the same time.",
        data: "What is published is complete; some of it was made twice.",
        remedy:
          "Do not let several machines process the same captures into this folder at the same time."
      )
    ),
  ]
}

extension CodeReference {
  /// The states of a capture, in their usual order.
  static let states: [(state: String, words: CodeWords)] = [
    (
      "arriving",
      CodeWords(
        "The upload is still in progress: a file changed a moment ago, or the folder holds a transfer's temporary file.",
        data: "Nothing is processed yet.",
        remedy: "Wait. If this lasts for hours, check the device that sends it.")
    ),
    (
      "stalled-upload",
      CodeWords(
        "The upload has begun and is not over, but nothing has come for the time given by --upload-timeout.",
        data: "Nothing is processed yet. What has come is not touched.",
        remedy:
          "Check the device that sends it and upload again. The capture is `arriving` again with the next byte."
      )
    ),
    (
      "incomplete",
      CodeWords(
        "The upload has stopped changing, and a file that this app always writes is missing.",
        data:
          "Nothing is processed yet. After the time given by --patience, the capture is processed as it is.",
        remedy:
          "Copy the missing files from the device. `watch` then takes the capture.")
    ),
    (
      "unrecognized",
      CodeWords(
        "A folder with files, in which no capture of a known app was found.",
        data: "It is listed and never processed.",
        remedy:
          "Look at what it holds. Copy the capture again if files were left behind, or move the folder away."
      )
    ),
    (
      "queued",
      CodeWords(
        "The capture is complete and is waiting for a worker, the time window, disk space, or another run.",
        data: "Nothing is lost. Results that are already published stay until they are made again.",
        remedy: "Nothing to do while the watcher runs; otherwise `scanmill run` processes it.")
    ),
    (
      "running",
      CodeWords(
        "A worker is processing the capture now.",
        data: "Each result appears when it is complete.", remedy: "Wait.")
    ),
    (
      "done",
      CodeWords(
        "Everything that was asked for has been made and is up to date.",
        data: "The data can be used.",
        remedy: "Nothing to do.")
    ),
    (
      "failed",
      CodeWords(
        "At least one stage of the capture failed or could not start.",
        data: "What the stage makes is missing; results of the other stages are there.",
        remedy:
          "The watcher tries it again at the time shown. Read the cause: it says what to do."
      )
    ),
    (
      "quarantined",
      CodeWords(
        "The capture failed in a way that trying again does not fix, so it is left alone.",
        data: "Nothing was moved or deleted; results of the stages that succeeded are there.",
        remedy:
          "It is tried again automatically when its files, the program or the pipeline change, or when `scanmill run` names it."
      )
    ),
    (
      "interrupted",
      CodeWords(
        "The work on the capture ended before it was done, and neither a run nor a watcher is at work on it. This is not a failure.",
        data: "What was complete is kept.",
        remedy: "Run again, or start the watcher again: it continues where it stopped.")
    ),
    (
      "skipped",
      CodeWords(
        "The run left the capture out: another run held it, it is quarantined, or --fail-fast ended the run.",
        data: "Nothing in its results was changed.",
        remedy: "Run again without the selection, or later.")
    ),
    (
      "blocked",
      CodeWords(
        "A stage could not start because something that it needs failed.",
        data: "Its results are missing.",
        remedy: "Fix what failed first, then run again.")
    ),
  ]
}
