import Captures

/// What makes a warning go away.
enum Cure: String, Encodable, CaseIterable {
  /// Another copy of what the device has. While a capture has such a warning, it is not called safe to delete there.
  case copy
  /// A parameter, or a file that one names.
  case parameter
  /// A change of the capture's folder.
  case files
  /// Nothing: it tells how the capture was recorded.
  case none
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
  }

  /// Warnings in the order of their list, then causes, what exactly failed, reasons, states, reasons for skipped
  /// frames of exports, and terms.
  public static let entries =
    read(warnings, .warning) + read(causes, .cause) + read(failures, .failure)
    + read(reasons, .reason) + read(states, .state) + read(leftOut, .leftOut) + read(terms, .word)

  /// Reads a table, in which each code has four lines: the code, behind it the cure of a warning that can be made to go
  /// away, the meaning, the effect on the data, and what to do. What is indented belongs to the line before.
  private static func read(_ table: String, _ kind: Kind) -> [Entry] {
    let lines = table.replacing("\n  ", with: " ").split(separator: "\n").map(String.init)
    return stride(from: 0, to: lines.count, by: 4).map { first in
      let words = lines[first].split(separator: " ").map(String.init)
      var entry = Entry(
        code: words[0], kind: kind, meaning: lines[first + 1], data: lines[first + 2],
        remedy: lines[first + 3])
      guard kind == .warning else { return entry }
      entry.cure = words.dropFirst().first.flatMap(Cure.init) ?? Cure.none
      if entry.cure == Cure.none { entry.remedy += " The warning stays." }
      return entry
    }
  }

  private static let byCode = Dictionary(entries.map { ($0.code, $0) }) { first, _ in first }

  public static subscript(code: String) -> Entry? { byCode[spellings[code] ?? code] }

  private static let causes = """
    input
    What the capture's own files hold cannot be used: it is damaged, lacks something, or is of a
      kind that is not supported; or a parameter does not fit it.
    What needs the file is not made; everything else of the capture is.
    Trying again cannot help. Copy the capture from the device again, unless the message says what
      helps instead; `scanmill inspect` names the file and the place.

    program
    A stage failed for a reason other than its input: it crashed, exceeded its time or memory limit,
      a program of a `command` stage failed, or something that scanmill did not make is in the place
      of its results.
    The results of this stage are missing. The capture itself is not harmed.
    Read the message and the log that the summary names. Raise `timeout` or `--memory` if a limit
      was reached, run fewer captures at a time if the system killed it, move away what is in its
      place; report a crash of scanmill itself.

    permission
    A file or folder of the capture is there, but the user that scanmill runs as may not read it.
    What needs the file is not made. The capture itself is not harmed.
    Give that user the right to read it: the message names the file, its mode and owner, the user,
      and the command. A watcher tries again when the permissions change.

    machine
    Something outside the program failed: the disk is full, input or output is not reachable, a
      device reported an error, or another run holds a lock.
    No result was lost; the capture waits as it is.
    Free space or bring the device back, then run the same command again: it continues where it
      stopped.
    """

  private static let failures = """
    damaged
    The content of a file of the capture cannot be read.
    What needs the file is not made; everything else of the capture is.
    Do what the message says in brackets; if it says nothing, copy the file again. Of a capture that
      is one file copy that file: nothing can be copied into it.

    unlike-the-app
    A file of the capture is not as the app writes it: it lacks a column or a key, or holds what the
      app never writes.
    What needs the file is not made; everything else of the capture is.
    Do what the message says in brackets. Another copy of the same file does not help.

    unsuitable
    A parameter, or the file that it names, does not fit the capture.
    The results of this stage are missing. The capture itself is not harmed.
    The message says which one. `--set STAGE.PARAMETER=default` takes it back, which leaving it out
      does not: what an earlier run set holds. Or give one that fits.

    strict
    The capture has warnings, and --strict counts them as failures.
    Everything was made.
    `scanmill explain CODE` says what helps against each warning. Without --strict they are
      accepted.

    no-permission
    The user that scanmill runs as may not read a file or folder of the capture.
    The results of this stage are missing. The capture itself is not harmed.
    The message has the command that gives the right.

    disk-full
    The disk of the output is full, or a quota is used up.
    No result was lost; the capture waits as it is.
    Free some space. `scanmill clean` lists what can go.

    not-writable
    The output may not be written: its rights, a disk that is read-only, or something else in its
      place.
    No result was lost; the capture waits as it is.
    Make the folder writable again, or choose another --output.

    output-gone
    The output folder was removed, moved or replaced, or its disk is gone.
    No result was lost; the capture waits as it is.
    Put it back in its place, and run the same command again.

    input-gone
    The files of the capture are not there, or no longer.
    No result was lost; the capture waits as it is.
    Bring back their disk or network, or copy the capture again.

    changed-while-read
    A file of the capture changed, or was cut short, while it was read.
    No result was lost; the capture waits as it is.
    Wait until the upload has ended, and run again.

    device-error
    A disk or a network reported an error or did not answer.
    No result was lost; the capture waits as it is.
    Bring it back, or check it; the system's log says more.

    in-use
    A file was in use by another program.
    No result was lost; the capture waits as it is.
    Run again; if it stays so, end the program that uses it.

    shortage
    Threads, processes, file descriptors or memory are used up.
    No result was lost; the capture waits as it is.
    Raise the limit that the message names, or run fewer captures at a time with --jobs.

    address-space
    A process ended without memory, and its address space is limited (`ulimit -v`).
    No result was lost; the capture waits as it is.
    Raise the limit, or run fewer captures at a time with --jobs.

    killed
    A process was ended by SIGKILL, most likely by the kernel, for want of memory.
    The results of this stage are missing. The capture itself is not harmed.
    Run fewer captures at a time with --jobs, or lower --memory so that each claims less. The
      kernel's log (`dmesg`) says whether memory was the reason.

    terminated
    A process was ended from outside by a signal that asks for it, such as SIGTERM.
    The results of this stage are missing. The capture itself is not harmed.
    Run again. If it happens again, find out who ends it.

    crashed
    A program crashed: a signal such as SIGSEGV or SIGABRT ended it.
    The results of this stage are missing. The capture itself is not harmed.
    Read the log. If it is scanmill itself, report it with the log.

    out-of-memory
    A process used more memory than it may.
    The results of this stage are missing. The capture itself is not harmed.
    Raise --memory, or run fewer captures at a time with --jobs.

    out-of-time
    A stage took longer than its time limit.
    The results of this stage are missing. The capture itself is not harmed.
    Raise its `timeout` if the capture is long; otherwise read the log.

    stalled
    A stage showed no progress for the time given by --stall, and was stopped.
    The results of this stage are missing. The capture itself is not harmed.
    Raise --stall if a disk or a program is slow; otherwise read the log.

    hung
    A worker made no progress and was killed.
    The results of this stage are missing. The capture itself is not harmed.
    Report it with the worker's log, which says where its threads stood.

    program-failed
    A program of a `command` stage ended with an exit code other than 0.
    The results of this stage are missing. The capture itself is not harmed.
    Read the log: the last lines of the program are in it.

    no-program
    A program, or a library that it needs, cannot be found or started.
    The results of this stage are missing. The capture itself is not harmed.
    Install it, or correct `command` of the stage.

    not-ours
    Something that scanmill did not make is in the place of a result.
    Nothing of it is touched, and nothing is written there.
    Move it away, or choose another --output, and run again.

    unpublishable
    What a program of a `command` stage has left cannot be published.
    The results of this stage are missing. The capture itself is not harmed.
    The message says what is wrong with it: correct the program.

    internal-error
    scanmill contradicted itself.
    The results of this stage are missing. The capture itself is not harmed.
    This is a mistake of scanmill: report it with the message and the log.
    """

  private static let reasons = """
    forced
    The stage runs because -R or -F names it.
    What is published is replaced when the stage has succeeded.
    Leave out the option to run only what is not up to date.

    never-built
    Nothing has been published for this stage yet.
    Its results are missing.
    Nothing to do: `scanmill run` builds it.

    outputs-missing
    Files that the artifact's record lists no longer exist.
    The artifact is incomplete.
    Nothing to do: the next run makes them again. Do not delete files inside an artifact; use
      `scanmill clean`.

    outputs-altered
    Files of the artifact, or its record, are not as they were when it was published.
    What is there may not be what the stage made.
    The next run makes it again. Keep your own changes outside the output folder.

    stage-version
    The stage, or a library that determines its output, has a different version from the one that
      made the artifact.
    What is published was made by the old version.
    Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` shows old and new
      versions.

    parameters
    A parameter has a different value from when the artifact was made.
    What is published was made with the old value.
    `scanmill explain CAPTURE STAGE` shows old and new values. Give the old value with --set to keep
      the artifact.

    input-changed
    The content of a file of the capture, or of a file that a parameter names, has changed.
    What is published was made from the old content.
    Nothing to do: the next run makes it again. `scanmill explain CAPTURE STAGE` names the file.

    input-rebuilt
    A stage that this one reads from was made again, with different content.
    What is published was made from the old content.
    Nothing to do: the next run makes it again.
    """

  /// The states of a capture, in their usual order, then the states and outcomes of one stage, except those that have the
  /// name of a capture's state.
  private static let states = """
    arriving
    The upload is still in progress: a file changed a moment ago, or the folder holds a transfer's
      temporary file.
    Nothing is processed yet.
    Wait. If this lasts for hours, check the device that sends it.

    stalled-upload
    The upload has begun and is not over, but nothing has come for the time given by
      --upload-timeout.
    Nothing is processed yet. What has come is not touched.
    Check the device that sends it and upload again. The capture is `arriving` again with the next
      byte.

    incomplete
    The upload has stopped changing, and a file that this app always writes is missing.
    Nothing is processed yet. After the time given by --patience, the capture is processed as it is.
    Copy the missing files from the device. `watch` then takes the capture.

    unrecognized
    A folder with files, in which no capture of a known app was found.
    It is listed and never processed.
    Look at what it holds. Copy the capture again if files were left behind, or move the folder
      away.

    queued
    The capture is complete and is waiting for a worker, the time window, disk space, or another
      run.
    Nothing is lost. Results that are already published stay until they are made again.
    Nothing to do while the watcher runs; otherwise `scanmill run` processes it.

    running
    A worker is processing the capture now.
    Each result appears when it is complete.
    Wait.

    done
    Everything that was asked for has been made and is up to date.
    The data can be used.
    Nothing to do.

    failed
    At least one stage of the capture failed or could not start.
    What the stage makes is missing; results of the other stages are there.
    The watcher tries it again at the time shown. Read the cause: it says what to do.

    quarantined
    The capture failed in a way that trying again does not fix, so it is left alone.
    Nothing was moved or deleted; results of the stages that succeeded are there.
    It is tried again automatically when its files, the program or the pipeline change, or when
      `scanmill run` names it.

    interrupted
    The run was stopped before the capture was done. This is not a failure.
    What was complete is kept.
    Run again: it continues where it stopped.

    skipped
    The run left the capture out: another run held it, it is quarantined, or --fail-fast ended the
      run.
    Nothing in its results was changed.
    Run again without the selection, or later.

    blocked
    A stage could not start because something that it needs failed.
    Its results are missing.
    Fix what failed first, then run again.

    missing
    The stage has not been run for this capture yet.
    Its results are not there.
    Run the same `scanmill run` command again.

    obstructed
    A folder without a record that scanmill wrote, or something else that it did not make, is in the
      place of the stage's results.
    Nothing in it is touched, and the stage cannot be made.
    Move the folder away, or choose another --output, and run again. `scanmill clean` does not
      remove what scanmill did not make.

    stale
    The results of the stage were made from different input files, with different parameters, or by
      a different version.
    They are still there and consistent with each other, but a run would produce something else now.
    Run again; `scanmill explain CAPTURE STAGE --output DIR` says what differs.

    not-applicable
    The capture has nothing for this stage: no depth, no motion sensors, no poses. Or the parameters
      leave no frame.
    There is no folder for this stage. Nothing is lost, and this is not a failure.
    There is nothing to do. If the capture should have it, `scanmill inspect` says what was found.

    not-requested
    Nobody asked for the stage: the last run was about other stages, and no result of it is
      published.
    There is no folder for this stage. It counts nowhere, and nothing waits for it.
    There is nothing to do. To have it made, run again and name it: `--until STAGE`, or `--export
      NAME`.

    up-to-date
    The results of the stage are what a run would produce now.
    They were left as they are.
    There is nothing to do. `-R STAGE` runs it anyway.

    made
    The stage was run and its results were published.
    The data can be used.
    There is nothing to do.

    not-possible
    The capture has nothing for the stage, or for all that the run named: no poses, no depth, no
      motion sensors. Or the parameters leave no frame.
    Nothing is lost, and this is not a failure. What is possible besides is made.
    There is nothing to do. If the capture should have it, `scanmill inspect` says what was found; a
      parameter that leaves nothing is named in the reason.

    missing-files
    Files that this app always writes are missing, and the capture was processed without them.
    Results that need them do not exist.
    Copy them from the device. If the device has no more, mark the capture done-as-is.

    altered-files
    By the notes of the upload server, files are others than those on the device: another size or
      content than it compared, or received damaged.
    Results are of the files as they are here.
    Send the capture from the device again. If its files were changed on purpose, mark the capture
      done-as-is.

    locks-not-shared
    The file system of the output does not share locks between machines. Two runs worked on the same
      capture at the same time.
    What is published is complete; some of it was made twice.
    Do not let several machines process the same captures into this folder at the same time.
    """

  /// Why an export leaves out a frame, by the codes of `leftOut` in `export.json`.
  private static let leftOut = """
    no-picture
    The export left out these frames because they have no color picture.
    The format needs a picture for every frame that it lists.
    `tables/frames.csv` lists the frames without color; warnings say why it is absent.

    other-size
    The export left out these frames because their pictures have another size than the rest.
    The format has one picture size for all frames.
    Use the pictures in `color/`, which are complete, or another format.

    no-depth
    The export left out these frames because they have no depth picture.
    The format pairs every color picture with one of depth.
    `tables/frames.csv` lists the frames without depth; warnings say why it is absent.

    no-pose
    The export left out these frames because they have no camera pose.
    Tracking was lost or had not begun; a pose is never made up.
    There is nothing to do, unless `tables/poses.csv` is empty: then see the warnings.

    no-intrinsics
    The export left out these frames because no intrinsics are known for them.
    Intrinsics that nobody measured are never written.
    Name a calibration with `--set STAGE.calibration=FILE` where the stage has that parameter.

    no-time
    The export left out these frames because they have no time.
    The format names or sorts frames by time.
    Use a format that numbers its frames, such as nerfstudio or colmap.

    time-not-increasing
    The export left out these frames because their time is not later than that of the frame before.
    In a format keyed by time the second of two equal times would replace the first.
    Use a format that numbers its frames, such as nerfstudio or colmap.

    outside-imu
    The export left out these frames because no inertial samples surround them, or none lies between
      them and the picture before.
    A visual-inertial program needs samples before and after every picture, and between two
      pictures.
    There is nothing to do at the ends of a recording. Within it, look for `imu-gap`. Where samples
      are about as frequent as pictures, some pictures have none between them: that is expected.

    no-position
    The export left out these frames because no position was recorded at them.
    Phones get a fix about every second, and some apps one for the whole recording.
    There is nothing to do: positions are not made up for them.

    not-selected
    The export left out these frames because its parameters do not select them.
    `every`, `first`, `last`, `count` and `pick` choose frames.
    `scanmill list parameters exports` lists these parameters.

    not-in-format
    The export has no frames because its format has none: it draws a track, say.
    Everything that the format has room for is there.
    There is nothing to do. For something per frame take another format.
    """
}
